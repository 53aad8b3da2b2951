import type { Static, TObject } from 'typebox'
import { isoTimeOrNull } from '../clock.ts'
import { TextOrNull, TimeOrNull } from '../http/fields.ts'
import { operation, Written } from '../http/operation.ts'
import { Type } from '../http/type.ts'
import { after } from '../soon.ts'
import { Properties } from '../user-groups/schema.ts'
import type { Verified } from '../user-groups/user-group.ts'

const ResolvedDataSource = Type.Object(
  { id: Type.String(), provided_id: TextOrNull, name: Type.String() },
  { title: 'ResolvedDataSource' },
)

const reasons = ['unknown', 'rotated', 'disabled'] as const

const reply = {
  active: Type.Boolean(),
  reason: Type.Optional(
    Type.Enum([...reasons], { description: `why not, where active is false: ${reasons.join(', ')}` }),
  ),
  user_group: Type.Optional(Type.Object({ team_id: Type.Integer(), name: Type.String(), provided_id: Type.String() })),
  data_sources: Type.Optional(
    Type.Unsafe<Record<string, Static<typeof ResolvedDataSource>>>({
      type: 'object',
      additionalProperties: ResolvedDataSource,
      description: 'the mapping of the user group, resolved: the data source of each schema id',
    }),
  ),
  unresolved: Type.Optional(
    Type.Array(Type.String(), { description: 'the schema ids whose data source is not there, if any' }),
  ),
  properties: Type.Optional(Properties),
  expires_at: Type.Optional(
    Type.Unsafe<string | null>({
      ...TimeOrNull,
      description: 'for an old token in its grace, when that ends; null for the current one',
    }),
  ),
}

export const verifyToken = operation({
  id: 'token.verify',
  method: 'POST',
  path: '/api/verify',
  summary: 'Tell whose user group token this is, and which data sources and properties it opens.',
  scope: 'verify',
  body: Type.Object({ token: Type.String({ description: 'a string: the user group token to verify' }) }),
  reply,
  errors: [],
  example: {
    body: { token: 'ugt_RxjX3SWaAL0nmBNgyVz7DZjBZ2GvMdnv1SWvDS' },
    reply: {
      active: true,
      user_group: { team_id: 1, name: 'Acme', provided_id: 'acme' },
      data_sources: { sales: { id: 'ds_bKBVf5bLAuXDIPXQtkHY', provided_id: 'acme-db', name: 'Acme DB' } },
      properties: { region: 'eu' },
      expires_at: null,
    },
  },
  handle({ body, team, teamId, tokens, memory, clock }) {
    const read = () => {
      const key = tokens.recallLookup(body.token)
      return after(key && team.userGroups.verify(key), (verified) => {
        if (verified === undefined) return undefined
        const { group, validUntil } = verified
        return { group: group.providedId, validUntil, reply: new Written(replyTo(verified)) }
      })
    }
    const finding = memory.recall('token', teamId, body.token, read, factsOf)
    return after(finding, (found) => (found ? verdict(found, clock.now()) : inactive('unknown')))
  },
})

type Reply = Static<TObject<typeof reply>>

/** What there is to say of a token, as long as it is valid. */
interface Finding {
  group: string
  validUntil: number | null
  reply: Written<Reply>
}

function factsOf({ group, reply }: Finding) {
  return { group, size: reply.content.length }
}

function verdict({ validUntil, reply }: Finding, now: number) {
  return validUntil !== null && validUntil <= now ? inactive('rotated') : reply
}

function inactive(reason: (typeof reasons)[number]) {
  return { active: false, reason }
}

function replyTo(verified: Verified): Reply {
  return verified.group.disabled ? inactive('disabled') : { active: true, ...opened(verified) }
}

function opened({ group, dataSources, validUntil }: Verified) {
  const unresolved = Object.keys(group.mapping).filter((schemaId) => !dataSources.has(schemaId))
  const sources = [...dataSources].map(([schemaId, { id, providedId, name }]) => {
    return [schemaId, { id, provided_id: providedId, name }] as const
  })
  return {
    user_group: { team_id: group.teamId, name: group.name, provided_id: group.providedId },
    data_sources: Object.fromEntries(sources),
    ...(unresolved.length > 0 && { unresolved }),
    properties: group.properties,
    expires_at: isoTimeOrNull(validUntil),
  }
}
