import assert from 'node:assert/strict'
import { type Environment, ugs } from '../support/service-process.ts'

/** What an operator does beside the running service, with the settings it runs with. */
export function commandsBeside(environment: Environment) {
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await ugs(environment, ...args, '--json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  return {
    makeTeam: async (name: string): Promise<number> => (await json('team', 'create', name)).id,
    makeApiToken: (...options: string[]): Promise<{ id: number; token: string }> =>
      json('api-token', 'create', 'test', ...options),
    revokeApiToken: (id: number): Promise<unknown> => json('api-token', 'revoke', String(id)),
  }
}
