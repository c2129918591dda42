import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { agentUnit, packagedUnit } from '../features/agents/server/install/unit.ts'
import { loadConfig, secretVariables, unknownVariables } from '../platform/server/config.ts'
import { ROOT } from './bootstrap/say.mjs'
import { serverEnvironment } from './bootstrap/server-arguments.mjs'
import { imageConfig } from './release/image.ts'
import { allowedBy, copyOf, instructionsOf } from './try-image.mjs'

const read = (path) => readFileSync(join(ROOT, path), 'utf8')
const packageFile = JSON.parse(read('package.json'))

let dir
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'portcullis-operations-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

/**
 * Returns true for names that this server knows. It refuses to start with unknown names that begin with PORTCULLIS_.
 */
const isKnown = (name) =>
  unknownVariables({ [name]: '' }).length === 0 &&
  (name.startsWith('PORTCULLIS_') ||
    [
      ...['NODE_ENV', 'NODE_EXTRA_CA_CERTS', ...Object.keys(serverEnvironment)],
      ...[...secretVariables, ...secretVariables.map((one) => `${one}_FILE`)],
    ].includes(name))

describe('the Dockerfile', () => {
  const all = instructionsOf(read('ops/docker/Dockerfile'))
  const last = all.slice(all.findLastIndex(({ word }) => word === 'FROM'))
  const textOf = (word, part = last) => part.filter((one) => one.word === word).map((one) => one.text)
  const copies = textOf('COPY', all).map(copyOf)
  const environment = Object.fromEntries(
    textOf('ENV').flatMap((text) => text.split(' ').map((pair) => pair.split(/=(.*)/s, 2))),
  )

  it('copies only existing files that .dockerignore includes, and only what earlier stages create', () => {
    const isAllowed = allowedBy(read('.dockerignore'))
    const missing = copies
      .filter(({ from }) => from === undefined)
      .flatMap(({ sources }) => sources)
      // A pattern in brackets is Docker's notation for an optional file.
      .map((path) => ({ name: path.replace(/\[(.)\]/g, '$1'), isOptional: path.includes('[') }))
      .filter(({ name, isOptional }) => !(isOptional || existsSync(join(ROOT, name))) || !isAllowed(name))
    expect(missing).toEqual([])
    const made = copies.filter(({ from }) => from !== undefined).flatMap(({ sources }) => sources)
    // Both stages that install packages copy the manifests. The whole packages stage is copied, because npm puts some
    // packages below a workspace, such as cli/node_modules/commander.
    expect(made.toSorted()).toEqual(
      ['', '', '', '/THIRD-PARTY-LICENSES.md', '/build/agent', '/build/console', '/build/help', '/sbom.cdx.json'].map(
        (path) => `/opt/portcullis${path}`,
      ),
    )
  })

  it('keeps data, keys, secrets, history, tests and local packages out of the image', () => {
    const isAllowed = allowedBy(read('.dockerignore'))
    const refused = [
      '.git/config',
      'data/portcullis.key',
      'portcullis.key',
      'release.key',
      'ops/docker/secrets/database-url',
      '.node/node',
    ]
    refused.push(
      'node_modules/pg/package.json',
      'server/node_modules/x',
      'server/test/app.ts',
      'server/src/compose.test.ts',
    )
    expect(refused.filter(isAllowed)).toEqual([])
    expect(
      ['server/src/compose.ts', 'server/migrations/0001_base.sql', 'cli/src/main.ts'].filter(isAllowed),
    ).toHaveLength(3)
  })

  it('knows every workspace, in both stages that install packages', () => {
    const stages = all.filter(({ word, text }) => word === 'RUN' && text.startsWith('npm ci'))
    expect(stages).toHaveLength(2)
    const stageOf = (name) => {
      const start = all.findIndex(({ word, text }) => word === 'FROM' && text.endsWith(` AS ${name}`))
      return all.slice(
        start,
        all.findIndex(({ word }, at) => at > start && word === 'FROM'),
      )
    }
    const manifests = textOf('COPY', stageOf('manifests')).flatMap((text) => copyOf(text).sources)
    for (const workspace of packageFile.workspaces) expect(manifests).toContain(`${workspace}/package.json`)
    for (const stage of ['build', 'packages'])
      expect(textOf('COPY', stageOf(stage))).toContain('--from=manifests /opt/portcullis ./')
    for (const { text } of stages) expect(text).toMatch(/--omit=dev --ignore-scripts/)
    // Programs that run in the image need their packages there.
    const installed = [...(stages[1]?.text ?? '').matchAll(/-w (\S+)/g)].map((match) => match[1])
    const folders = textOf('COPY')
      .map(copyOf)
      .flatMap(({ sources }) => sources)
    expect(folders.filter((name) => packageFile.workspaces.includes(name)).toSorted()).toEqual(installed.toSorted())
  })

  it('pins the same Node release as the bootstrap, in every stage', () => {
    const version = /VERSION = '([^']+)'/.exec(read('scripts/bootstrap/node.mjs'))?.[1]
    expect(textOf('ARG', all)).toEqual([`NODE_IMAGE=node:${version}-bookworm-slim`])
    expect(textOf('FROM', all).every((text) => /^\$\{NODE_IMAGE\}( AS |$)/.test(text))).toBe(true)
  })

  it('has the settings of the image of a release', () => {
    const { User, Env, Cmd, WorkingDir, ExposedPorts, Volumes, StopSignal, Healthcheck } = imageConfig('1.0.0')
    expect(textOf('USER')).toEqual([User])
    expect(textOf('WORKDIR')).toEqual([WorkingDir])
    expect(textOf('STOPSIGNAL')).toEqual([StopSignal])
    expect(textOf('EXPOSE').map((port) => `${port}/tcp`)).toEqual(Object.keys(ExposedPorts))
    expect(textOf('VOLUME')).toEqual(Object.keys(Volumes))
    expect(Env.filter((pair) => !pair.startsWith('PATH='))).toEqual(
      Object.entries(environment).map((pair) => pair.join('=')),
    )
    expect(textOf('CMD').map((text) => JSON.parse(text))).toEqual([Cmd])
    const [health = ''] = textOf('HEALTHCHECK')
    const seconds = (name) => Number(new RegExp(`--${name}=(\\d+)s`).exec(health)?.[1]) * 1e9
    expect({
      Test: ['CMD', ...JSON.parse(/\[.*\]/.exec(health)?.[0] ?? '[]')],
      Interval: seconds('interval'),
      Timeout: seconds('timeout'),
      StartPeriod: seconds('start-period'),
      Retries: Number(/--retries=(\d+)/.exec(health)?.[1]),
    }).toEqual(Healthcheck)
  })

  it('starts as a user other than root, with an environment that the server accepts', () => {
    expect(textOf('USER')).toEqual(['10001:10001'])
    expect(Object.keys(environment).filter((name) => !isKnown(name))).toEqual([])
    const config = loadConfig(environment, false)
    expect(textOf('EXPOSE')).toEqual([String(config.port)])
    expect(textOf('VOLUME')).toEqual([config.dataDir])
    for (const text of [...textOf('CMD'), ...textOf('HEALTHCHECK')]) {
      const command = JSON.parse(/\[.*\]/.exec(text)?.[0] ?? '')
      expect(existsSync(join(ROOT, command.at(-1) ?? '')), text).toBe(true)
    }
  })
})

describe('the compose file', () => {
  const compose = parse(read('ops/docker/compose.yaml'), { merge: true })

  const services = Object.entries(compose.services)

  it.each(services)('confines %s', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service.image).toMatch(/^(portcullis:\d+\.\d+\.\d+|\$\{POSTGRES_IMAGE:-postgres:\d+\.\d+-\w+\})$/)
    expect(service).not.toHaveProperty('privileged')
    expect(service).not.toHaveProperty('cap_add')
  })

  it('runs this release, and the database in a network without a route out', () => {
    for (const name of ['server', 'worker'])
      expect(compose.services[name]?.image).toBe(`portcullis:${packageFile.version}`)
    expect(compose.networks).toMatchObject({ database: { internal: true } })
    expect(compose.services.database).toMatchObject({ networks: ['database'] })
    expect(compose.services.database).not.toHaveProperty('ports')
  })

  it('passes secrets as files, which make-secrets.sh creates only once', () => {
    cpSync(join(ROOT, 'ops/docker/make-secrets.sh'), join(dir, 'make-secrets.sh'))
    const make = () => spawnSync('sh', [join(dir, 'make-secrets.sh')], { encoding: 'utf8' })
    expect(make()).toMatchObject({ status: 0, stderr: '' })
    const text = (name) => readFileSync(join(dir, 'secrets', name), 'utf8')
    const [url, password] = [text('database-url'), text('database-password')]
    expect(make().status).toBe(0)
    expect(text('database-url')).toBe(url)
    expect(statSync(join(dir, 'secrets')).mode & 0o777).toBe(0o700)
    expect(new URL(url)).toMatchObject({
      hostname: 'database',
      username: 'portcullis',
      password,
      pathname: '/portcullis',
    })
    expect(password).toMatch(/^[0-9a-f]{48}$/)
    expect(Object.keys(compose.secrets).filter((name) => !existsSync(join(dir, 'secrets', name)))).toEqual([])
    for (const [name, service] of services)
      for (const secret of service.secrets ?? []) expect(compose.secrets, name).toHaveProperty([secret])
    const inUse = services.flatMap(([, service]) => service.secrets ?? [])
    expect(Object.keys(compose.secrets).filter((name) => !inUse.includes(name))).toEqual([])
  })

  it('gives the server an environment that it accepts', () => {
    const { environment = {}, ports = [], secrets = [] } = compose.services.server
    // Include variables that are commented out.
    const more = [...read('ops/docker/compose.yaml').matchAll(/# ([A-Z_]+): \/?[\w.]/g)].map((match) => match[1])
    expect([...Object.keys(environment), ...more].filter((name) => !isKnown(name))).toEqual([])
    const local = Object.fromEntries(
      Object.entries(environment).map(([name, value]) => {
        const secret = /^\/run\/secrets\/(.+)$/.exec(value)?.[1]
        if (secret === undefined) return [name, value]
        expect(secrets).toContain(secret)
        return [name, join(dir, 'secrets', secret)]
      }),
    )
    const config = loadConfig(local, false)
    expect(config.databaseUrl?.reveal()).toContain('@database:5432/')
    expect(config.adminPassword?.reveal()).toHaveLength(48)
    expect(ports).toEqual([`${config.port}:${config.port}`])
  })

  it('gives the worker only options that exist', () => {
    const { command = [] } = compose.services.worker
    expect(existsSync(join(ROOT, command[2] ?? ''))).toBe(true)
    const usage = read(command[2] ?? '')
    for (const option of command.filter((word) => word.startsWith('--') && !word.startsWith('--disable')))
      expect(usage).toContain(`'${option.slice(2)}'`.replace(/^'(\w+)'$/, '$1: {'))
  })

  it('creates the database with the settings that the server requires', () => {
    const embedded = read('platform/server/postgres/cluster.ts')
    const given = compose.services.database?.environment?.POSTGRES_INITDB_ARGS ?? ''
    for (const option of [
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C.UTF-8',
    ]) {
      expect(given).toContain(option)
      expect(embedded).toContain(option)
    }
    expect(spawnSync('sh', ['-n', join(ROOT, 'ops/docker/make-database.sh')]).status).toBe(0)
  })
})

/** Returns the lines of a unit file as pairs. A setting may occur more than once. */
const settingsOf = (text) =>
  text
    .split('\n')
    .filter((line) => /^[A-Za-z]+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])

describe('systemd units', () => {
  const units = ['portcullis.service', 'portcullis-worker.service']

  it.each(units)('%s runs the results of npm run build, with known variables', (name) => {
    const settings = settingsOf(read(`ops/systemd/${name}`))
    const settingOf = (key) => settings.find(([one]) => one === key)?.[1] ?? ''
    const [program, ...args] = settingOf('ExecStart').split(' ')
    expect(program).toBe(`${settingOf('WorkingDirectory')}/.node/node`)
    expect(existsSync(join(ROOT, args.find((word) => word.endsWith('.ts')) ?? 'none'))).toBe(true)
    const variables = settings.filter(([key]) => key === 'Environment').map(([, value]) => value.split('=')[0] ?? '')
    expect(variables.filter((one) => !isKnown(one))).toEqual([])
    expect(existsSync(join(ROOT, settingOf('Documentation').replace('file:///opt/portcullis/', '')))).toBe(true)
  })

  it.each(units)('%s prevents privilege escalation', (name) => {
    const settings = settingsOf(read(`ops/systemd/${name}`))
    for (const wanted of [
      ['NoNewPrivileges', 'yes'],
      ['CapabilityBoundingSet', ''],
      ['ProtectSystem', 'strict'],
      ['ProtectHome', 'yes'],
      ['PrivateDevices', 'yes'],
      ['RestrictNamespaces', 'yes'],
      ['SystemCallFilter', '@system-service'],
      ['UMask', '0077'],
    ])
      expect(settings).toContainEqual(wanted)
    expect(settings.some(([key, value]) => key === 'DynamicUser' || (key === 'User' && value !== 'root'))).toBe(true)
  })

  // The figures of docs/guide/systemd.md, measured with systemd 252. A later systemd may check more.
  it.for([
    ['portcullis.service', 1.2],
    ['portcullis-worker.service', 1.2],
    ['portcullis-agent.service', 2.5],
    ['packaged.service', 2.5],
  ])('%s: systemd rates its exposure at %d or lower', ([name, most], context) => {
    const file = join(dir, name)
    const text =
      name === 'portcullis-agent.service'
        ? agentUnit({ serverUrl: 'https://p.example:8443' })
        : name === 'packaged.service'
          ? packagedUnit()
          : read(`ops/systemd/${name}`)
    writeFileSync(file, text)
    const evaluated = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', file], {
      encoding: 'utf8',
    })
    if (evaluated.error !== undefined || /unrecognized option|Unknown/.test(evaluated.stderr))
      return context.skip('no systemd-analyze with an offline analysis')
    const level = /exposure level for \S+: (\d+\.\d+)/.exec(evaluated.stdout)?.[1]
    expect(Number(level)).toBeLessThanOrEqual(most)
  })
})

describe('pages for people', () => {
  const guides = [
    ...globSync('docs/{guide,security}/*.md', { cwd: ROOT }),
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'docs/reference/configuration.md',
  ]

  it('name variables and npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'))
    for (const guide of guides) {
      const names = [...read(guide).matchAll(/\bPORTCULLIS_[A-Z_]+\b/g)].map((match) => match[0])
      const own = ['PORTCULLIS_NAME', 'PORTCULLIS_SERVER', 'PORTCULLIS_TOKEN', 'PORTCULLIS_ASSETS']
      expect(
        names.filter((name) => !own.includes(name) && !isKnown(name)),
        guide,
      ).toEqual([])
      const commands = [...read(guide).matchAll(/npm run (?:-s )?([a-z-]+)/g)].map((match) => match[1])
      expect(
        commands.filter((name) => !Object.hasOwn(scripts, name)),
        guide,
      ).toEqual([])
    }
  })
})
