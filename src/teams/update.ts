import { given, refuseEmptyPatch } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { TeamOut, TeamPatch } from './schema.ts'
import { presentTeam } from './team.ts'

export const updateTeam = operation({
  id: 'team.update',
  method: 'PATCH',
  path: '/api/team',
  summary: 'Change those settings of the team that are sent.',
  scope: 'admin',
  body: TeamPatch,
  reply: { team: TeamOut },
  errors: [],
  example: { body: { strict_mapping: true }, reply: { team: { id: 1, name: 'First team', strict_mapping: true } } },
  async handle({ body, team, clock }) {
    refuseEmptyPatch(body, TeamPatch)
    const change = given({ name: body.name, strictMapping: body.strict_mapping })
    return { team: presentTeam(await team.settings.update(change, clock.now())) }
  },
})
