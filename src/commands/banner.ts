import type { Team } from '../teams/team.ts'

interface Greeting {
  version: string
  host: string
  address: string
  /** Only when it has a port of its own. */
  metrics: string | undefined
  database: string
  team: Team
  /** Only when this start made it. */
  freshToken: string | undefined
}

/** Where the service is, and a line for each operation that works when pasted. */
export function banner({ version, host, address, metrics, database, team, freshToken }: Greeting): string {
  const token = freshToken ?? '$UGS_API_TOKEN'
  const call = (method: string, body: string) =>
    `curl -sX ${method} ${address}/api/user -H "Authorization: Token ${token}" -H 'Content-Type: application/json' -d ${body}`
  const lookUp = call('GET', `'{"user_group_id":"acme","name":"Acme"}'`)
  const currentToken = `$(${lookUp} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`
  const elsewhere = isEverywhere(host) ? `   (and all other addresses of this machine: HOST is ${host})` : ''
  const facts = [
    ['Listening on', address + elsewhere],
    ['Documentation', `${address}/api/docs`],
    ...(metrics === undefined ? [] : [['Metrics on', metrics + elsewhere]]),
    ['Database', database],
    ['Team', `${team.id} (${team.name})`],
    [
      'API token',
      freshToken ? `${freshToken}   (shown only now)` : 'the one you have; lost? npx ugs api-token create NAME',
    ],
  ]
  return `
User Group Service ${version}

${facts.map(([fact, value]) => `  ${fact?.padEnd(13)} ${value}`).join('\n')}

Look a user group up, or create it:

  ${lookUp}

Rotate its token:

  ${call('POST', `'{"current_token":"'"${currentToken}"'"}'`)}
`
}

/** One that works when pasted on this machine. */
export function addressOf(host: string, port: number): string {
  const reachable = isEverywhere(host) ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
