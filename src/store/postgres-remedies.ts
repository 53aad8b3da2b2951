export const grant =
  'Make the user in DATABASE_URL the owner of the database, or grant it what it lacks on the tables and on a schema of its search_path.'
export const takeWrites =
  'Name the server that takes writes in DATABASE_URL, or let this one take them: a standby takes none, nor does a database with default_transaction_read_only.'
const trust =
  'Name the certificate of whoever signed that of the server in DATABASE_URL, as ?sslmode=verify-full&sslrootcert=PATH.'

/** By SQLSTATE, or the code that Node gives to what is wrong before the server is asked. */
const remedies = new Map<string, string>([
  ['25006', takeWrites],
  ['25P04', 'Set transaction_timeout to 0 for the user in DATABASE_URL, with alter role, and try again.'],
  ['3F000', grant],
  ['42501', grant],
  ['53300', 'Close other connections, or let the server take more: each process opens up to 10.'],
  ['55P03', 'Something else holds a table, perhaps a dump or a start that migrates: try again once that is done.'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', trust],
  ['SELF_SIGNED_CERT_IN_CHAIN', trust],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', trust],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', trust],
  ['ERR_INVALID_URL', 'Correct DATABASE_URL; in a password write %23 for #, %3F for ?, %2F for / and %25 for %.'],
])

/** For what the operator can mend. Not in postgres-errors.ts, which loads the driver: SQLite does without it. */
export function postgresRemedyFor(error: unknown): string | undefined {
  return remedies.get(String((error as { code?: unknown } | undefined)?.code))
}
