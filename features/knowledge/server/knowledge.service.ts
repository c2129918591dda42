import { createHash, createPublicKey, verify } from 'node:crypto'
import { countText, createKnowledge, type Knowledge } from '@portcullis/domain'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { lock, locks } from '@portcullis/platform/server/db/locks.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import {
  type BodyOf,
  type KnowledgeEffect,
  type KnowledgeFileName,
  type KnowledgePayload,
  type KnowledgeSet,
  type KnowledgeStatus,
  knowledgeFileNames,
  knowledgeLimits,
  knowledgeProofText,
  type uploadKnowledge,
} from '#features/contract.ts'
import { readPayload, withFiles } from './check.ts'
import type { KnowledgeContext } from './context.ts'
import { createKnowledgeStore, type SetRow, type WholeSet } from './knowledge.store.ts'
import { createKnowledgeSeals } from './seal.ts'

type Files = KnowledgePayload['files']
/** Stored files of a set: its own and inherited ones, each with its original version. */
type StoredFiles = Partial<Record<KnowledgeFileName, { version: string; content: unknown }>>

/** Kind of the job that evaluates all devices by the knowledge in force. The devices capability handles it. */
export const evaluationJob = 'knowledge'

interface SetChange {
  what: 'apply' | 'rollback'
  id: string
  version: string
  /** The contents and the effect, for the approver. */
  text: string
}

interface KeyTrust {
  what: 'trust'
  fingerprint: string
  /** Base64 of the DER. */
  publicKey: string
}

type KnowledgeChange = SetChange | KeyTrust

/** Topic of the bus that announces a change of the knowledge in force. */
const topic = 'knowledge'
const historyLength = 50
const dayMs = 86_400_000

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

const compareVersions = (a: string, b: string): number => {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number)) as [number[], number[]]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = (left[i] ?? 0) - (right[i] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

const shown = (row: SetRow): KnowledgeSet => ({
  id: row.set_id,
  version: row.version,
  state: row.state as KnowledgeSet['state'],
  createdAt: row.created_at.toISOString(),
  uploadedAt: row.uploaded_at.toISOString(),
  uploadedBy: row.uploaded_by,
  key: row.fingerprint,
  brings: row.brings as KnowledgeFileName[],
  appliedAt: row.applied_at?.toISOString() ?? null,
  appliedBy: row.applied_by,
})

/** JSON text of the knowledge by which agents recognise attack tools, and its SHA-256. */
export interface AgentDocument {
  text: string
  hash: string
}

/** Cached per knowledge, because every policy needs it. */
const documents = new WeakMap<Knowledge, AgentDocument>()
const documentOf = (knowledge: Knowledge): AgentDocument => {
  const known = documents.get(knowledge)
  if (known !== undefined) return known
  const { attackTools, genuine } = knowledge.sources
  const text = JSON.stringify({ attackTools, genuine })
  const document = { text, hash: sha256(text) }
  documents.set(knowledge, document)
  return document
}

export type KnowledgeService = Awaited<ReturnType<typeof createKnowledgeService>>

/**
 * Manages the knowledge in force: that of the release, or a signed set on top of it that an Administrator activated.
 */
export const createKnowledgeService = async (context: KnowledgeContext) => {
  const { db, clock, log, bus, keys, audit, changeRequests, release, jobs } = context
  const seals = createKnowledgeSeals(keys.derive('knowledge'))
  /** Starts the job that re-evaluates all fingerprints, at COMMIT. */
  const startEvaluation = (tx: Tx, actor: Pick<Actor, 'userName'>, version: string): Promise<string> =>
    jobs.enqueue(tx, actor, {
      kind: evaluationJob,
      title: `Re-evaluate all devices with knowledge ${version}`,
      data: { version },
    })
  const store = createKnowledgeStore(db)
  let current: { knowledge: Knowledge; set: SetRow | null; files: StoredFiles } = {
    knowledge: release,
    set: null,
    files: {},
  }

  function authentic(set: WholeSet | undefined): WholeSet | undefined {
    if (set === undefined || seals.isSet(set)) return set
    log.error({ setId: set.set_id }, 'ignoring a knowledge set that is not authentic')
    return undefined
  }

  const filesOf = (set: WholeSet): StoredFiles => JSON.parse(set.files) as StoredFiles

  /** Combines a set with the parts it inherits from the release. Its version differs from both. */
  function build(set: WholeSet): Knowledge {
    const files = filesOf(set)
    const content = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.content])) as Files
    const print = sha256(`${release.info.version}\n${set.files}`).slice(0, 8)
    return createKnowledge(withFiles(release.sources, content, `${set.version}+${print}`))
  }

  /** Loads the knowledge in force. If the release is newer than the set, the release counts. */
  async function refresh(): Promise<void> {
    const set = authentic(await store.inState('In force'))
    if (set === undefined || compareVersions(set.version, release.info.version) < 0)
      current = { knowledge: release, set: null, files: {} }
    else if (current.set?.set_id !== set.set_id) current = { knowledge: build(set), set, files: filesOf(set) }
  }

  function reload(): void {
    refresh().catch((error: unknown) => log.warn({ err: error }, 'cannot reload the knowledge'))
  }
  bus.on(topic, reload)
  bus.onGap(reload)
  await refresh()

  const trusted = async () => (await store.keys()).filter((key) => seals.isKey(key))

  /** Returns the key that signed a file, if the signature is valid. */
  function signerOf(body: BodyOf<typeof uploadKnowledge>): { der: Buffer; fingerprint: string } {
    const der = Buffer.from(body.publicKey, 'base64')
    try {
      const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
      const text = Buffer.from(knowledgeProofText(body.payload))
      if (key.asymmetricKeyType === 'ed25519' && verify(null, text, key, Buffer.from(body.signature, 'base64')))
        return { der, fingerprint: sha256(der) }
    } catch {
      // An unreadable key counts as an invalid signature.
    }
    throw new AppError('knowledge_signature_wrong')
  }

  /** Refuses knowledge above the agents' limit, because armed agents would be left without a policy. */
  function assertFitsAgents(knowledge: Knowledge): void {
    const bytes = Buffer.byteLength(documentOf(knowledge).text)
    if (bytes > knowledgeLimits.agentDocument)
      throw new AppError('knowledge_invalid', {
        detail: `Together with the knowledge in force, attack tools and genuine descriptors have ${bytes} bytes. Agents accept at most ${knowledgeLimits.agentDocument} bytes.`,
      })
  }

  const effect = async (knowledge: Knowledge, version: string): Promise<KnowledgeEffect> => ({
    version,
    computedAt: new Date(clock.now()).toISOString(),
    ...(await context.evaluation.effectOf(knowledge)),
  })

  async function candidateOf(): Promise<WholeSet> {
    const set = authentic(await store.inState('Candidate'))
    if (set === undefined) throw notFound('No candidate was uploaded.')
    return set
  }

  async function trustIn(tx: Tx, actor: Actor, fingerprint: string, der: Buffer): Promise<void> {
    await createKnowledgeStore(tx).addKey({
      fingerprint,
      public_key: der,
      trusted_at: new Date(clock.now()),
      trusted_by: actor.userName,
      seal: seals.ofKey(fingerprint, der),
    })
    await audit.write(tx, actor, { action: 'knowledge.key_trusted', entity: `key ${fingerprint}`, severity: 4 })
  }

  /** Lets one person trust the first key only while a second Administrator has never existed. */
  async function assertMayTrust(actor: Actor, fingerprint: string, der: Buffer): Promise<void> {
    assertFresh(actor, clock.now())
    await changeRequests.assertAlone<KnowledgeChange>(actor, { kind: 'program' }, () => ({
      kind: 'knowledge',
      change: { what: 'trust', fingerprint, publicKey: der.toString('base64') },
      detail:
        'Trusting the first key for knowledge needs a second approver, because its owner decides what counts as an attack tool. Ask another Administrator to approve request {id}, then upload the file again.',
    }))
  }

  async function upload(actor: Actor, body: BodyOf<typeof uploadKnowledge>) {
    const { der, fingerprint } = signerOf(body)
    const keys = await trusted()
    const isKnown = keys.some((key) => key.fingerprint === fingerprint)
    if (!isKnown && keys.length > 0) throw new AppError('knowledge_key_refused', { fingerprint })
    if (!isKnown && body.trust !== fingerprint) throw new AppError('knowledge_key_unknown', { fingerprint })
    if (!isKnown) await assertMayTrust(actor, fingerprint, der)
    const payload = readPayload(body.payload)
    await refresh()
    const inForce = current.set?.version ?? release.info.version
    if (compareVersions(payload.version, inForce) <= 0)
      throw new AppError('conflict', {
        detail: `Version ${payload.version} is not newer than version ${inForce}, which is in force.`,
      })
    const own = Object.entries(payload.files).map(([name, content]) => [name, { version: payload.version, content }])
    const now = new Date(clock.now())
    const part = {
      set_id: newId(clock.now()),
      version: payload.version,
      state: 'Candidate',
      created_at: new Date(payload.createdAt),
      fingerprint,
      base_id: current.set?.set_id ?? null,
      files: JSON.stringify({ ...current.files, ...Object.fromEntries(own) }),
    }
    const set: WholeSet = {
      ...part,
      uploaded_at: now,
      uploaded_by: actor.userName,
      brings: Object.keys(payload.files),
      applied_at: null,
      applied_by: null,
      seal: seals.ofSet(part),
    }
    const built = build(set)
    assertFitsAgents(built)
    const found = await effect(built, set.version)
    await db.transaction(async (tx) => {
      const writes = createKnowledgeStore(tx)
      await lock(tx, locks.knowledge)
      // Another request may have pinned another key in the meantime.
      const now = (await writes.keys()).filter((key) => seals.isKey(key))
      if (now.length > 0 && !now.some((key) => key.fingerprint === fingerprint))
        throw new AppError('knowledge_key_refused', { fingerprint })
      await writes.dropCandidate()
      await writes.add(set)
      if (now.length === 0) await trustIn(tx, actor, fingerprint, der)
      await audit.write(tx, actor, {
        action: 'knowledge.uploaded',
        entity: `knowledge ${set.version}`,
        details: `brings ${set.brings.join(', ')}; signed by ${fingerprint}; changes ${countText(found.designs, 'fingerprint')} on ${countText(found.hosts, 'host')}`,
      })
    })
    return { candidate: shown(set), effect: found }
  }

  const moved = (set: WholeSet, state: string, applied?: { at: Date; by: string }) => ({
    ...set,
    state,
    applied_at: applied?.at ?? set.applied_at,
    applied_by: applied?.by ?? set.applied_by,
    seal: seals.ofSet({ ...set, state }),
  })

  async function announced(tx: Tx, actor: Actor, version: string): Promise<string> {
    await bus.publish(tx, topic)
    return startEvaluation(tx, actor, version)
  }

  async function applyIn(tx: Tx, actor: Actor, id: string): Promise<string> {
    const writes = createKnowledgeStore(tx)
    await lock(tx, locks.knowledge)
    const set = authentic(await writes.inState('Candidate'))
    if (set === undefined || set.set_id !== id)
      throw new AppError('conflict', { detail: 'This is no longer the candidate. Review its effect again.' })
    const before = authentic(await writes.inState('In force'))
    if ((before?.set_id ?? null) !== set.base_id && current.set !== null)
      throw new AppError('conflict', { detail: 'Other knowledge came into force meanwhile. Upload the file again.' })
    if (before !== undefined) await writes.move(moved(before, 'Replaced'))
    await writes.move(moved(set, 'In force', { at: new Date(clock.now()), by: actor.userName }))
    const started = await announced(tx, actor, set.version)
    await audit.write(tx, actor, { action: 'knowledge.applied', entity: `knowledge ${set.version}`, severity: 4 })
    return started
  }

  async function rollbackIn(tx: Tx, actor: Actor, id: string): Promise<string> {
    const writes = createKnowledgeStore(tx)
    await lock(tx, locks.knowledge)
    const set = await writes.inState('In force')
    if (set !== undefined && set.set_id !== id)
      throw new AppError('conflict', { detail: 'Other knowledge has come into force since.' })
    if (set === undefined)
      throw new AppError('conflict', {
        detail: 'The knowledge of the release is in force. There is no earlier knowledge to restore.',
      })
    await writes.move(moved(set, 'Withdrawn'))
    const base = set.base_id === null ? undefined : authentic(await writes.byId(set.base_id))
    if (base !== undefined)
      await writes.move(moved(base, 'In force', { at: new Date(clock.now()), by: actor.userName }))
    const to = base?.version ?? release.info.version
    const started = await announced(tx, actor, to)
    await audit.write(tx, actor, {
      action: 'knowledge.rolled_back',
      entity: `knowledge ${set.version}`,
      details: `returned to ${to}`,
      severity: 4,
    })
    return started
  }

  /** Lets one person change the definition of attack tools only while a second Administrator has never existed. */
  async function change(actor: Actor, asked: SetChange) {
    await changeRequests.assertAlone<KnowledgeChange>(actor, { kind: 'program' }, () => ({
      kind: 'knowledge',
      change: asked,
      detail:
        'Changing the knowledge in force needs a second approver, because it decides what counts as an attack tool. Ask another Administrator to approve request {id}.',
    }))
    const jobId = await db.transaction((tx) =>
      asked.what === 'apply' ? applyIn(tx, actor, asked.id) : rollbackIn(tx, actor, asked.id),
    )
    await refresh()
    return { version: current.knowledge.info.version, jobId }
  }

  changeRequests.handle<KnowledgeChange>('knowledge', {
    action: 'settings',
    title: (asked) =>
      asked.what === 'trust'
        ? `Trust the key ${asked.fingerprint} to sign knowledge, which decides what counts as an attack tool`
        : asked.what === 'apply'
          ? `Activate knowledge ${asked.version}: ${asked.text}`
          : `Withdraw knowledge ${asked.version} and restore the knowledge before it`,
    details: (_tx, asked) =>
      asked.what === 'trust'
        ? [`Key ${asked.fingerprint}`]
        : [...(asked.text === '' ? [] : [asked.text]), `Stored knowledge ${asked.id}`],
    carryOut: async (tx, actor, asked) => {
      if (asked.what === 'trust') {
        const { fingerprint, publicKey } = asked
        await lock(tx, locks.knowledge)
        const known = (await createKnowledgeStore(tx).keys()).filter((key) => seals.isKey(key))
        const der = Buffer.from(publicKey, 'base64')
        if (known.length > 0 || sha256(der) !== fingerprint)
          throw new AppError('knowledge_key_refused', { fingerprint })
        await trustIn(tx, actor, fingerprint, der)
        return undefined
      }
      await (asked.what === 'apply' ? applyIn(tx, actor, asked.id) : rollbackIn(tx, actor, asked.id))
      return refresh
    },
  })

  async function apply(actor: Actor, id: string) {
    const set = authentic(await store.inState('Candidate'))
    if (set === undefined || set.set_id !== id)
      throw new AppError('conflict', { detail: 'This is no longer the candidate. Review its effect again.' })
    const { designs, hosts, worse, better } = await context.evaluation.effectOf(build(set))
    const text = `signed by key ${set.fingerprint}, replaces ${set.brings.join(', ')}; changes the verdict on ${countText(designs, 'model')} on ${countText(hosts, 'host')}: ${worse} worse, ${better} better`
    return change(actor, { what: 'apply', id, version: set.version, text })
  }

  async function rollback(actor: Actor) {
    const set = await store.inState('In force')
    if (set === undefined)
      throw new AppError('conflict', {
        detail: 'The knowledge of the release is in force. There is no earlier knowledge to restore.',
      })
    return change(actor, { what: 'rollback', id: set.set_id, version: set.version, text: '' })
  }

  /** Returns the date of the knowledge in force, and its age in days. */
  function ageNow(): { madeAt: Date; ageDays: number } {
    const madeAt = current.set?.created_at ?? releaseDate(release.info.version)
    return { madeAt, ageDays: Math.max(0, Math.floor((clock.now() - madeAt.getTime()) / dayMs)) }
  }

  async function status(): Promise<KnowledgeStatus> {
    const { knowledge, set, files } = current
    const { info, sources } = knowledge
    const [keys, history, judging] = await Promise.all([
      trusted(),
      store.history(historyLength),
      context.evaluation.progress(info.version),
    ])
    const contents = {
      usbIds: [sources.usbIdsText, info.usbIdsNames],
      attackTools: [JSON.stringify(sources.attackTools), sources.attackTools.length],
      vulnerable: [JSON.stringify(sources.vulnerable), sources.vulnerable.length],
      genuine: [JSON.stringify(sources.genuine), sources.genuine.length],
      supplement: [
        JSON.stringify(sources.supplement),
        Object.keys(sources.supplement.vendors).length + Object.keys(sources.supplement.products).length,
      ],
      registries: [JSON.stringify(sources.registries), info.registries],
    } as const satisfies Record<KnowledgeFileName, readonly [string, number]>
    const { madeAt, ageDays } = ageNow()
    return {
      version: info.version,
      source: set === null ? 'release' : 'upload',
      releaseVersion: release.info.version,
      madeAt: madeAt.toISOString(),
      ageDays,
      files: knowledgeFileNames.map((name) => ({
        name,
        version: name === 'usbIds' ? info.usbIds : (files[name]?.version ?? release.info.version),
        source: files[name] === undefined ? 'release' : 'upload',
        entries: contents[name][1],
        bytes: Buffer.byteLength(contents[name][0]),
      })),
      agentsHash: documentOf(knowledge).hash,
      trustedKeys: keys.map((key) => ({
        fingerprint: key.fingerprint,
        trustedAt: key.trusted_at.toISOString(),
        trustedBy: key.trusted_by,
      })),
      candidate: history.filter((row) => row.state === 'Candidate').map(shown)[0] ?? null,
      history: history.map(shown),
      judging,
    }
  }

  return {
    current: (): Knowledge => current.knowledge,
    /** Returns the part of the knowledge that agents receive. */
    forAgents: (): AgentDocument => documentOf(current.knowledge),
    refresh,
    upload,
    preview: async (): Promise<KnowledgeEffect> => {
      const set = await candidateOf()
      return effect(build(set), set.version)
    },
    apply: (actor: Actor, id: string) => {
      if (!isId(id)) throw notFound('No candidate has this id.')
      return apply(actor, id)
    },
    rollback,
    status,
    age: (): { version: string; ageDays: number } => ({
      version: current.knowledge.info.version,
      ageDays: ageNow().ageDays,
    }),
    /**
     * Starts the job that re-evaluates stored verdicts of other knowledge, after an update of the server or a crash.
     */
    catchUp: async (): Promise<void> => {
      const { version } = current.knowledge.info
      const { waiting, hosts } = await context.evaluation.progress(version)
      if (waiting + hosts > 0) await db.transaction((tx) => startEvaluation(tx, { userName: 'system' }, version))
    },
  }
}

const releaseDate = (version: string): Date => {
  const [year = 1970, month = 1, day = 1] = version.split('.').map(Number)
  return new Date(Date.UTC(year, month - 1, day))
}
