import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { SmallDisk } from './small-disk.ts'

/** A whole database, and where a damaged one is to be put. */
export interface Workshop {
  disk: SmallDisk
  whole: Buffer
  path: string
  random: () => number
}

export interface Damage {
  name: string
  /** What the refusal says. */
  says: RegExp
  /** Some of what it hits does not matter: then all there is must be right. */
  mayDoNoHarm?: true
  /** Whether the disk is read-only until told otherwise. */
  makesReadOnly?: true
  inflict(workshop: Workshop): void
}

const header = 100
const pageSize = 4096
const refused = /is damaged: |is read-only\.|cannot be opened: /

export const damages: readonly Damage[] = [
  {
    name: 'a page of zeros',
    says: /is damaged: /,
    inflict({ whole, path }) {
      writeFileSync(path, whole)
      const database = new DatabaseSync(path)
      const row = database.prepare(`select rootpage from sqlite_schema where name = 'user_group'`).get()
      database.close()
      const page = Number(row?.rootpage)
      writeFileSync(path, readFileSync(path).fill(0, (page - 1) * pageSize, page * pageSize))
    },
  },
  {
    name: 'a read-only folder',
    says: /is read-only\./,
    makesReadOnly: true,
    inflict({ disk, whole, path }) {
      writeFileSync(path, whole)
      disk.setReadOnly(true)
    },
  },
  {
    name: 'an end that is missing',
    says: /is damaged: /,
    inflict({ whole, path, random }) {
      writeFileSync(path, whole.subarray(0, header + random() * (whole.length - header)))
    },
  },
  {
    name: 'random bytes',
    says: /cannot be opened: file is not a database/,
    inflict({ path, random }) {
      writeFileSync(path, Buffer.from(Array.from({ length: 3 * pageSize }, () => random() * 256)))
    },
  },
  {
    name: 'a bit flipped in the header',
    says: refused,
    mayDoNoHarm: true,
    inflict: (workshop) => flip(workshop, header * workshop.random()),
  },
  {
    name: 'a bit flipped where a page begins',
    says: refused,
    mayDoNoHarm: true,
    inflict(workshop) {
      const { whole, random } = workshop
      const page = 1 + Math.floor(random() * (whole.length / pageSize - 1))
      flip(workshop, page * pageSize + random() * 12)
    },
  },
  {
    name: 'a folder in its place',
    says: /cannot be opened: unable to open database file/,
    inflict: ({ path }) => mkdirSync(path),
  },
  {
    name: 'a newer schema',
    says: /is at schema version 9999, newer than this program's/,
    inflict({ whole, path }) {
      writeFileSync(path, whole)
      const database = new DatabaseSync(path)
      database.exec('insert into schema_version (version, applied_at) values (9999, 0)')
      database.close()
    },
  },
  {
    name: 'the database of another program',
    says: /cannot be opened: it is the database of another program/,
    inflict({ path }) {
      const database = new DatabaseSync(path)
      database.exec('create table user_group (id integer primary key)')
      database.close()
    },
  },
]

function flip({ whole, path, random }: Workshop, at: number): void {
  const copy = Buffer.from(whole)
  const position = Math.floor(at)
  copy[position] = (copy[position] ?? 0) ^ (1 << Math.floor(random() * 8))
  writeFileSync(path, copy)
}
