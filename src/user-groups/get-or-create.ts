import type { Static, TObject } from 'typebox'
import { operation, type TeamContext, Written } from '../http/operation.ts'
import { Type } from '../http/type.ts'
import { newId } from '../ids.ts'
import { keepableJson } from '../json.ts'
import { after, type Soon } from '../soon.ts'
import { GetOrCreateIn, UserGroupOut } from './schema.ts'
import { present } from './user-group.ts'

const example = {
  body: { user_group_id: 'acme', name: 'Acme', mapping: { sales: 'acme-db' }, properties: { region: 'eu' } },
  reply: {
    new_user_group: true,
    user_group: { team_id: 1, token: 'ugt_RxjX3SWaAL0nmBNgyVz7DZjBZ2GvMdnv1SWvDS', name: 'Acme', provided_id: 'acme' },
  },
}

const description =
  'A user group that is there comes back as it is: name, mapping and properties are checked, and change nothing of it. ' +
  'PATCH /api/user_groups/{provided_id} changes it.'

const reply = { new_user_group: Type.Boolean(), user_group: UserGroupOut }

export const getOrCreate = operation({
  id: 'user_group.get_or_create',
  method: 'GET',
  path: '/api/user',
  summary: 'Look up a user group, or create it. An existing one is not changed.',
  description,
  scope: 'provision',
  body: GetOrCreateIn,
  missingBody:
    'The request has no body. A proxy or client may have dropped the body of this GET; ' +
    'POST /api/user_groups takes the same body and gives the same answer.',
  reply,
  errors: ['unknown_data_source'],
  example,
  handle,
})

export const getOrCreateByPost = operation({
  id: 'user_group.get_or_create_by_post',
  method: 'POST',
  path: '/api/user_groups',
  summary: 'The same as GET /api/user, for clients and proxies that cannot send a body with a GET.',
  description,
  scope: 'provision',
  body: GetOrCreateIn,
  reply,
  errors: ['unknown_data_source'],
  example,
  handle,
})

type Context = TeamContext<Static<typeof GetOrCreateIn>>
type Reply = Static<TObject<typeof reply>>

function handle(context: Context): Soon<Reply | Written<Reply>> {
  const { body, teamId, memory } = context
  // Checked for an existing group too: a request is right or wrong whoever was first.
  const properties = body.properties === undefined ? '{}' : keepableJson(body.properties, 'properties')
  const read = () => lookUp(context)
  const facts = ({ content }: Written<Reply>) => ({ size: content.length, group: body.user_group_id })
  const existing = memory.recall('user_group', teamId, body.user_group_id, read, facts)
  return after(existing, (reply): Soon<Reply | Written<Reply>> => reply ?? create(context, properties))
}

function lookUp({ body, team, tokens }: Context): Soon<Written<Reply> | undefined> {
  return after(team.userGroups.find(body.user_group_id), (group) => {
    return group && new Written({ new_user_group: false, user_group: present(group, tokens.openToken(group)) })
  })
}

async function create({ body, team, teamId, tokens, clock }: Context, properties: string): Promise<Reply> {
  const now = clock.now()
  let minted = ''
  const { group, created } = await team.userGroups.getOrCreate(() => {
    const id = newId(now)
    const { token, sealed } = tokens.mintForUserGroup(teamId, id, now)
    minted = token
    return {
      id,
      providedId: body.user_group_id,
      name: body.name ?? body.user_group_id,
      mapping: body.mapping ?? {},
      properties,
      token: sealed,
    }
  }, now)
  return { new_user_group: created, user_group: present(group, created ? minted : tokens.openToken(group)) }
}
