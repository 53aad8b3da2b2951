import { operation } from '../http/operation.ts'
import { TeamOut } from './schema.ts'
import { presentTeam } from './team.ts'

export const getTeam = operation({
  id: 'team.get',
  method: 'GET',
  path: '/api/team',
  summary: 'Show the team and its settings.',
  scope: 'admin',
  reply: { team: TeamOut },
  errors: [],
  example: { reply: { team: { id: 1, name: 'First team', strict_mapping: false } } },
  async handle({ team }) {
    return { team: presentTeam(await team.settings.get()) }
  },
})
