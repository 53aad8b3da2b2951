/** A reverse proxy, configured as an operator would. Each refuses /api/events itself: see ambiguous-requests.ts. */
export interface ProxySetup {
  /** As the table in SECURITY.md calls it. */
  name: string
  program: ProxyProgram
  /** What becomes of the body of a GET; where it is dropped, the service must say `missing_body`. */
  getBody: 'passed on' | 'dropped'
  /** Stores every answer to a GET that it is not told to leave alone, whoever asked. */
  isCareless?: true
  /** The text of its configuration file. */
  configuration(service: URL, port: number, folder: string): string
}

export interface ProxyProgram {
  command: string
  /** Makes it print its version. */
  versionFlag: string
  /** The arguments that keep it in the foreground. */
  inForeground(configuration: string, port: number, folder: string): string[]
}

export const nginx: ProxyProgram = {
  command: 'nginx',
  versionFlag: '-v',
  inForeground: (configuration, _port, folder) => ['-c', configuration, '-p', folder, '-e', 'stderr'],
}

const haproxy: ProxyProgram = {
  command: 'haproxy',
  versionFlag: '-v',
  inForeground: (configuration) => ['-db', '-f', configuration],
}

const varnish: ProxyProgram = {
  command: 'varnishd',
  versionFlag: '-V',
  inForeground: (configuration, port, folder) => [
    ...['-F', '-j', 'none', '-n', `${folder}/state`, '-a', `127.0.0.1:${port}`, '-f', configuration],
    // It compiles its configuration: without optimising, in a fifth of the time.
    ...['-s', 'malloc,16m', '-p', 'cc_command=exec cc -O0 -fpic -shared -o %o %s'],
  ],
}

const caddy: ProxyProgram = {
  command: 'caddy',
  versionFlag: 'version',
  inForeground: (configuration) => ['run', '--adapter', 'caddyfile', '--config', configuration],
}

export const proxySetups: readonly ProxySetup[] = [
  {
    name: 'nginx',
    program: nginx,
    getBody: 'passed on',
    configuration: (service, port, folder) => nginxConfiguration(folder, port, `proxy_pass ${service.origin};`),
  },
  {
    name: 'nginx, caching by URL',
    program: nginx,
    getBody: 'passed on',
    isCareless: true,
    configuration: (service, port, folder) =>
      nginxConfiguration(
        folder,
        port,
        `proxy_pass http://service;
         proxy_http_version 1.1;
         proxy_set_header Connection "";
         proxy_request_buffering off;
         proxy_cache groups;
         proxy_cache_key $uri;
         proxy_cache_valid 200 1m;`,
        `upstream service { server ${service.host}; keepalive 4; }
         proxy_cache_path ${folder}/cache keys_zone=groups:1m;`,
      ),
  },
  {
    name: 'HAProxy',
    program: haproxy,
    getBody: 'passed on',
    configuration: (service, port) => haproxyConfiguration(service, port),
  },
  {
    name: 'HAProxy, caching',
    program: haproxy,
    getBody: 'passed on',
    configuration: (service, port) => `cache groups
  total-max-size 4
  max-age 60
${haproxyConfiguration(service, port)}  http-request cache-use groups
  http-response cache-store groups
`,
  },
  {
    name: 'Varnish',
    program: varnish,
    getBody: 'dropped',
    configuration: (service) => varnishConfiguration(service, ''),
  },
  {
    name: 'Varnish, told to pass',
    program: varnish,
    getBody: 'passed on',
    configuration: (service) =>
      varnishConfiguration(service, 'sub vcl_recv { return (pass); } sub vcl_backend_fetch { return (fetch); }'),
  },
  {
    name: 'Varnish, caching in spite of Authorization',
    program: varnish,
    getBody: 'passed on',
    isCareless: true,
    configuration: (service) =>
      varnishConfiguration(
        service,
        `sub vcl_recv { if (req.method == "GET") { std.cache_req_body(512KB); return (hash); } }
         sub vcl_backend_fetch { return (fetch); }`,
      ),
  },
  {
    name: 'Caddy',
    program: caddy,
    getBody: 'passed on',
    configuration: (service, port) => `{
  admin off
  auto_https off
}
http://:${port} {
  bind 127.0.0.1
  respond /api/events 403
  reverse_proxy ${service.host}
}
`,
  },
]

function nginxConfiguration(folder: string, port: number, location: string, more = ''): string {
  return aroundNginxServer(
    folder,
    `${more}
  server {
    listen 127.0.0.1:${port};
    location /api/events { return 403; }
    location / { ${location} }
  }`,
  )
}

/** All that nginx writes stays in the folder. */
export function aroundNginxServer(folder: string, server: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  return `daemon off;
worker_processes 1;
pid ${folder}/pid;
events {}
http {
  access_log off;
  ${temporary.join('\n  ')}
  ${server}
}
`
}

function haproxyConfiguration(service: URL, port: number): string {
  return `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen proxy
  bind 127.0.0.1:${port}
  server service ${service.host}
  http-request deny if { path_beg /api/events }
`
}

/** Behind what is said here comes the VCL that Varnish has built in. */
function varnishConfiguration(service: URL, more: string): string {
  return `vcl 4.1;
import std;
backend default { .host = "${service.hostname}"; .port = "${service.port}"; }
sub vcl_recv { if (req.url ~ "^/api/events") { return (synth(403)); } }
${more}
`
}
