/**
 * The worker protocol, version 1: what the agentless worker says to `/worker/v1/...`. A worker process polls hosts over
 * SSH; it never sees the database. All calls are POST with a JSON body; all but `register` carry the poller's own key as
 * bearer token. Answers other than 200 are problem details: 401 means that the key is revoked, so that all running polls
 * are to be ended and the process registers anew or exits.
 */
import { type Static, Type } from 'typebox'
import { boundedText } from './agent-limits.ts'
import { DeviceReport, HostFacts } from './agent-reports.ts'
import { closed, nullable } from './operation.ts'

export const workerPaths = {
  register: '/worker/v1/register',
  lease: '/worker/v1/lease',
  results: '/worker/v1/results',
} as const

/** Bounds of the protocol. */
export const workerLimits = {
  /** Polls of one process at a time. */
  concurrency: 1_000,
  /** Results of one call. */
  results: 32,
  /** Bytes of one lease request: enough for the progress of a thousand polls. */
  leaseBytes: 1024 * 1024,
  /** Bytes of one body: 32 results of hundreds of devices. */
  bodyBytes: 8 * 1024 * 1024,
  /** Devices of one host. */
  devices: 512,
  /** Seconds a lease lasts without a word of its worker; then somebody else gets the poll, who may ask a second later. */
  leaseSeconds: 25,
} as const

/** What a poll goes through, in order. */
export const pollSteps = ['resolve', 'connect', 'host-key', 'sign-in', 'read', 'understand'] as const
export type PollStep = (typeof pollSteps)[number]

/** Why a poll failed; each is documented with its cure in `pollCauses`. */
export const pollFailures = [
  'name-not-found',
  'address-refused',
  'connection-refused',
  'connect-timeout',
  'connection-lost',
  'no-common-algorithm',
  'host-key-unconfirmed',
  'host-key-changed',
  'sign-in-refused',
  'key-unusable',
  'no-credentials',
  'read-timeout',
  'output-too-large',
  'not-understood',
  'platform-unknown',
  'not-permitted',
  'stopped',
  'worker-lost',
] as const
export type PollFailure = (typeof pollFailures)[number]

/** What each failure means and what helps, for the console, the documentation and the status rows. */
export const pollCauses: Readonly<Record<PollFailure, { title: string; cure: string }>> = {
  'name-not-found': {
    title: 'The name has no address',
    cure: 'Check the spelling, and that the worker uses a DNS server that knows the name; or give the IP address.',
  },
  'address-refused': {
    title: 'This address is not polled',
    cure: 'It is one of a cloud or network itself (link-local, multicast), or a name that leads to the worker: name the computer by its own address.',
  },
  'connection-refused': {
    title: 'Nothing listens on the port',
    cure: 'Start the SSH server of the host, check the port, and let the firewall pass the address of the worker.',
  },
  'connect-timeout': {
    title: 'The host does not answer',
    cure: 'See that the host is on and reachable from the worker; a firewall that drops packets looks like this too.',
  },
  'connection-lost': {
    title: 'The host ended the connection',
    cure: 'Look into the log of its SSH server; limits such as MaxStartups or fail2ban end connections like this.',
  },
  'no-common-algorithm': {
    title: 'The SSH server is too old or of another kind',
    cure: 'It offers none of the algorithms that are still safe: update the SSH server of the host.',
  },
  'host-key-unconfirmed': {
    title: 'Confirm the host key',
    cure: 'This is the first contact, so no password was sent. Compare the fingerprint with the output of ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub on the computer. Then confirm it in the connection, or upload a list of host keys.',
  },
  'host-key-changed': {
    title: 'The host key changed',
    cure: 'No credential was sent. If the computer was reinstalled, enter its new fingerprint in the connection. If not, someone may be intercepting the connection.',
  },
  'sign-in-refused': {
    title: 'User name, password or key is refused',
    cure: 'Check them, and that the host allows this way of signing in for this user.',
  },
  'key-unusable': {
    title: 'The private key cannot be read',
    cure: 'Give it in OpenSSH or PEM form, with its passphrase when it has one.',
  },
  'no-credentials': {
    title: 'There is nothing to sign in with',
    cure: 'Give the connection a user with password or key, or the worker defaults for all connections. The default password goes only to computers that an Administrator added or confirmed.',
  },
  'read-timeout': {
    title: 'Reading took too long',
    cure: 'The host is overloaded, or its shell waits for something: sign in as this user by hand and look.',
  },
  'output-too-large': {
    title: 'The host sent more than its devices can be',
    cure: 'A login script that prints, or not the host it claims to be: sign in as this user by hand and look.',
  },
  'not-understood': {
    title: 'The answer of the host makes no sense',
    cure: 'A forced command, a restricted shell or an unknown system: sign in as this user by hand and look.',
  },
  'platform-unknown': {
    title: 'This is neither Linux, macOS nor Windows',
    cure: 'Other systems cannot be polled. If it is one of them, name its platform in the connection.',
  },
  'not-permitted': {
    title: 'The user may not read USB devices',
    cure: 'Allow it to read /sys/bus/usb (Linux) or to run PowerShell or system_profiler (Windows, macOS).',
  },
  stopped: {
    title: 'The worker was stopped',
    cure: 'Nothing to do: the host is polled again when a worker is active.',
  },
  'worker-lost': {
    title: 'The worker did not come back with a result',
    cure: 'Nothing to do: another poll follows. When it happens often, look at the health of the worker.',
  },
}

/** POST register: exchanges a token for a key of this process. */
export const WorkerRegisterRequest = closed({
  token: Type.String({ minLength: 1, maxLength: 512, description: 'Worker token as shown once by the server.' }),
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the machine it runs on.' }),
  version: boundedText(64, 'Version of the worker.'),
})
export type WorkerRegisterRequest = Static<typeof WorkerRegisterRequest>

export const WorkerRegisterResponse = closed({
  pollerId: Type.String({ description: 'Id of this process.' }),
  key: Type.String({ description: 'Bearer token of this process until it is revoked; stored hashed by the server.' }),
})
export type WorkerRegisterResponse = Static<typeof WorkerRegisterResponse>

/** Names a poll; the fence grows with each lease, so that an old one is told from the present one. */
const PollRef = closed({
  id: Type.String({ pattern: '^[0-9a-fA-F-]{36}$' }),
  fence: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
})

/** One step of a poll as it went. */
export const PollStepResult = closed({
  step: Type.Enum(pollSteps),
  ok: Type.Boolean(),
  ms: Type.Integer({ minimum: 0 }),
  message: boundedText(500, 'What was seen; cleaned of what the host could hide in it.'),
})
export type PollStepResult = Static<typeof PollStepResult>

/** POST lease: says how it is, keeps the leases of what runs, and takes new polls. Answered at once. */
export const WorkerLeaseRequest = closed({
  free: Type.Integer({ minimum: 0, maximum: workerLimits.concurrency, description: 'Polls it could start now.' }),
  capacity: Type.Integer({ minimum: 1, maximum: workerLimits.concurrency }),
  running: Type.Array(
    closed({
      ...PollRef.properties,
      step: Type.Enum(pollSteps),
      done: Type.Optional(
        Type.Array(PollStepResult, {
          maxItems: 16,
          description: 'Steps that are over; of tests, where a person waits.',
        }),
      ),
    }),
    { maxItems: workerLimits.concurrency, description: 'Its leases last on; the step is shown as progress.' },
  ),
  version: boundedText(64, 'Version of the worker.'),
  cpu: Type.Number({ minimum: 0, maximum: 100_000, description: 'Share of one core it used lately, in percent.' }),
})
export type WorkerLeaseRequest = Static<typeof WorkerLeaseRequest>

export const pollPlatforms = ['linux', 'macos', 'windows'] as const
export type PollPlatform = (typeof pollPlatforms)[number]

/** One host to poll, with all that is needed. Secrets are here in the clear: over TLS or loopback only, never logged. */
export const Poll = closed({
  ...PollRef.properties,
  isTest: Type.Boolean({ description: 'A person waits for it, and nothing of it is stored with the fleet.' }),
  host: Type.String({ minLength: 1, maxLength: 255 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  platform: nullable(Type.Enum(pollPlatforms), { description: 'null: to be found out.' }),
  userName: boundedText(255, 'Whom to sign in as.'),
  password: nullable(boundedText(1_024, 'Password.')),
  privateKey: nullable(boundedText(65_536, 'Private key, OpenSSH or PEM.')),
  passphrase: nullable(boundedText(1_024, 'Passphrase of the key.')),
  hostKeyFingerprint: nullable(Type.String({ maxLength: 128 }), {
    description:
      '`SHA256:...` as OpenSSH prints it. Any other key ends the poll before a credential is sent; null: first contact, where no password is sent.',
  }),
  isPasswordWithheld: Type.Optional(
    Type.Boolean({
      description:
        'True: the server withholds the password until the host key is confirmed. Absent when the key is confirmed.',
    }),
  ),
  limits: closed({
    connectMs: Type.Integer({ minimum: 1, description: 'For TCP and key exchange.' }),
    totalMs: Type.Integer({ minimum: 1, description: 'For the whole poll.' }),
    outputBytes: Type.Integer({ minimum: 1, description: 'Of all that the host prints.' }),
  }),
})
export type Poll = Static<typeof Poll>

export const WorkerLeaseResponse = closed({
  isActivated: Type.Boolean({ description: 'While false it gets no polls.' }),
  polls: Type.Array(Poll, { maxItems: workerLimits.concurrency }),
  stop: Type.Array(PollRef, {
    description: 'Running polls that are not wanted any more: to be ended, without result.',
  }),
  nextMs: Type.Integer({ minimum: 0, description: 'After this it asks again, sooner when polls ended meanwhile.' }),
})
export type WorkerLeaseResponse = Static<typeof WorkerLeaseResponse>

/** How a poll ended. */
export const PollResult = closed({
  ...PollRef.properties,
  durationMs: Type.Integer({ minimum: 0 }),
  failure: nullable(Type.Enum(pollFailures), { description: 'null: it succeeded.' }),
  message: boundedText(500, 'Details of the failure, without secrets; empty otherwise.'),
  hostKeyFingerprint: nullable(Type.String({ maxLength: 128 }), { description: 'Key the host showed; null: none.' }),
  platform: nullable(Type.Enum(pollPlatforms)),
  machineIdHash: nullable(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
    description: 'As of an agent, so that the same host is known by whatever way it comes; null: it has or shows none.',
  }),
  facts: nullable(HostFacts, { description: 'null on failure.' }),
  devices: Type.Array(DeviceReport, {
    maxItems: workerLimits.devices,
    description:
      'All that is attached. Where a system does not show descriptors (macOS, Windows) they are made of what it says; such a device descriptor has bMaxPacketSize0 0, which no device has.',
  }),
  steps: Type.Array(PollStepResult, { maxItems: 16 }),
})
export type PollResult = Static<typeof PollResult>

/** POST results. A result whose lease is over is `stale`: nothing of it was stored, and it is not to be sent again. */
export const WorkerResultsRequest = closed({
  results: Type.Array(PollResult, { minItems: 1, maxItems: workerLimits.results }),
})
export type WorkerResultsRequest = Static<typeof WorkerResultsRequest>

export const WorkerResultsResponse = closed({
  stored: Type.Array(Type.String()),
  stale: Type.Array(Type.String()),
})
export type WorkerResultsResponse = Static<typeof WorkerResultsResponse>
