/**
 * For what a browser could be led to show, though none needs this service: nothing of it loads, runs or is framed, and
 * no other site learns where the reader came from.
 */
export const browserHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
}
