import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Attribute, Change, Client } from 'ldapts'
import type { IssuedCertificate } from './certificates.ts'
import { freePort } from './free-port.ts'

const program = '/usr/sbin/slapd'

/** Returns why no directory can be started. Null if it can. */
export const whyNoSlapd = (): string | null =>
  existsSync(program) ? null : 'slapd is missing (apt-get install slapd ldap-utils)'

export const suffix = 'dc=example,dc=org'
export const readerDn = `cn=reader,${suffix}`
export const readerPassword = 'reader of people'
const rootDn = `cn=root,${suffix}`
const rootPassword = 'root of the test'

export const peopleDn = `ou=people,${suffix}`
const groupsDn = `ou=groups,${suffix}`

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
      .on('connect', () => {
        socket.destroy()
        resolve(true)
      })
      .on('error', () => resolve(false))
  })

type Attributes = Record<string, string | string[] | Buffer | Buffer[]>

export interface SlapdOptions {
  /** Certificate of the directory, and its issuer. */
  tls: IssuedCertificate & { ca: string }
}

export type Slapd = Awaited<ReturnType<typeof startSlapd>>

/** Starts a real directory on high ports, with two organisational units and a reader. End it with `stop`. */
export const startSlapd = async ({ tls }: SlapdOptions) => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-slapd-'))
  mkdirSync(join(dir, 'data'))
  for (const [name, text] of [
    ['ca.pem', tls.ca],
    ['cert.pem', tls.cert],
    ['key.pem', tls.key],
  ] as const)
    writeFileSync(join(dir, name), text, { mode: 0o600 })
  writeFileSync(
    join(dir, 'slapd.conf'),
    `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
# userAccountControl and similar attributes.
include ${join(dir, 'extra.schema')}
pidfile ${join(dir, 'slapd.pid')}
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
# A bind with a DN and no password succeeds, as in misconfigured directories.
allow bind_anon_cred bind_anon_dn
TLSCACertificateFile ${join(dir, 'ca.pem')}
TLSCertificateFile ${join(dir, 'cert.pem')}
TLSCertificateKeyFile ${join(dir, 'key.pem')}
TLSVerifyClient never
database mdb
maxsize 67108864
suffix "${suffix}"
rootdn "${rootDn}"
rootpw "${rootPassword}"
directory ${join(dir, 'data')}
dbnosync
index objectClass,uid,member,uniqueMember,memberOf eq
# Lists are returned only in pages.
limits dn.exact="${readerDn}" size.soft=50 size.hard=50 size.prtotal=unlimited
overlay memberof
memberof-refint TRUE
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="${readerDn}" read by anonymous auth by * none
`,
  )
  writeFileSync(
    join(dir, 'extra.schema'),
    `attributetype ( 1.3.6.1.4.1.99999.1 NAME 'userAccountControl' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.99999.2 NAME 'memberUid' EQUALITY caseExactIA5Match SYNTAX 1.3.6.1.4.1.1466.115.121.1.26 )
attributetype ( 1.3.6.1.4.1.99999.5 NAME 'objectSid' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.99999.6 NAME 'primaryGroupID' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.3.6.1.4.1.99999.7 NAME 'tokenGroups' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )
objectclass ( 1.3.6.1.4.1.99999.3 NAME 'adPerson' SUP top AUXILIARY MAY ( userAccountControl $ objectSid $ primaryGroupID $ tokenGroups ) )
objectclass ( 1.3.6.1.4.1.99999.4 NAME 'posixGroup' SUP top STRUCTURAL MUST cn MAY memberUid )
`,
  )
  const [port, tlsPort] = [await freePort(), await freePort()]
  let child: ChildProcess | null = null

  const start = async (): Promise<void> => {
    child = spawn(
      program,
      ['-d', '0', '-h', `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${tlsPort}`, '-f', join(dir, 'slapd.conf')],
      { stdio: 'ignore' },
    )
    for (let tries = 0; !(await answers(port)); tries++) {
      if (tries > 200 || child.exitCode !== null)
        throw new Error(
          `slapd did not start: ${execFileSync(program, ['-T', 'test', '-u', '-f', join(dir, 'slapd.conf')], { encoding: 'utf8' })}`,
        )
      await sleep(25)
    }
  }
  /** Stops the process and keeps the data. */
  const halt = async (): Promise<void> => {
    const ended = child
    child = null
    if (ended === null || ended.exitCode !== null) return
    const gone = new Promise((resolve) => ended.once('exit', resolve))
    ended.kill('SIGTERM')
    await gone
  }

  await start()
  const client = new Client({ url: `ldap://127.0.0.1:${port}`, timeout: 20_000, strictDN: false, autoRebind: true })
  await client.bind(rootDn, rootPassword)
  await client.add(suffix, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' })
  for (const dn of [peopleDn, groupsDn])
    await client.add(dn, { objectClass: 'organizationalUnit', ou: /^ou=(\w+)/.exec(dn)?.[1] as string })
  await client.add(readerDn, {
    objectClass: ['organizationalRole', 'simpleSecurityObject'],
    cn: 'reader',
    userPassword: readerPassword,
  })

  /** Escapes a value for a DN (RFC 4514). */
  const escaped = (text: string): string => text.replace(/[\\,+"<>;=#]/g, '\\$&')
  return {
    plainUrl: `ldap://127.0.0.1:${port}`,
    tlsUrl: `ldaps://127.0.0.1:${tlsPort}`,
    port,
    tlsPort,
    start,
    halt,
    person: async (uid: string, password: string, more: Attributes = {}): Promise<string> => {
      const dn = `uid=${escaped(uid)},${peopleDn}`
      await client.add(dn, {
        objectClass: ['inetOrgPerson', 'adPerson'],
        uid,
        cn: uid,
        sn: 'Keller',
        givenName: 'Ada',
        mail: 'ada@example.org',
        userPassword: password,
        ...more,
      } as never)
      return dn
    },
    /**
     * Adds a group with the members' DNs and returns its DN. An empty group gets the reader, because one is required.
     */
    group: async (
      cn: string,
      members: readonly string[] = [],
      kind = 'groupOfNames',
      more: Attributes = {},
    ): Promise<string> => {
      const dn = `cn=${escaped(cn)},${groupsDn}`
      const attribute = { groupOfNames: 'member', groupOfUniqueNames: 'uniqueMember', posixGroup: 'memberUid' }[kind]
      await client.add(dn, {
        objectClass: Object.keys(more).length === 0 ? kind : [kind, 'adPerson'],
        cn,
        [attribute as string]: members.length === 0 ? [readerDn] : [...members],
        ...more,
      } as never)
      return dn
    },
    change: (dn: string, operation: 'add' | 'delete' | 'replace', type: string, values: string[]): Promise<void> =>
      client.modify(dn, new Change({ operation, modification: new Attribute({ type, values }) })),
    remove: (dn: string): Promise<void> => client.del(dn),
    add: (dn: string, attributes: Record<string, string | string[]>): Promise<void> => client.add(dn, attributes),
    search: (base: string, filter: string) => client.search(base, { filter }),
    stop: async (): Promise<void> => {
      await client.unbind().catch(() => {})
      await halt()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
