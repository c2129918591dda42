/**
 * Defines version 1 of the worker protocol: the requests of agentless workers to `/worker/v1/...`. A worker process polls
 * hosts over SSH and has no access to the database. All calls are POST with a JSON body; all except `register` send the
 * key of the process as bearer token. Responses other than 200 are problem details. After a 401, the key is revoked: the
 * process cancels all polls and registers again or exits.
 */

import { type Static, Type } from 'typebox'
import { DeviceReport, HostFacts } from './agent-reports.ts'
import { boundedText, closed, nullable } from './shapes.ts'

export const workerPaths = {
  register: '/worker/v1/register',
  lease: '/worker/v1/lease',
  results: '/worker/v1/results',
} as const

/** Limits of the protocol. */
export const workerLimits = {
  /** Maximum number of concurrent polls per process. */
  concurrency: 1_000,
  /** Maximum number of results per call. */
  results: 32,
  /** Maximum bytes of a lease request: enough for the progress of 1,000 polls. */
  leaseBytes: 1024 * 1024,
  /** Maximum bytes of a body: enough for 32 results with hundreds of devices. */
  bodyBytes: 8 * 1024 * 1024,
  /** Maximum number of devices per host. */
  devices: 512,
  /** Seconds after which a lease expires unless the worker renews it. Another process can then take the poll. */
  leaseSeconds: 25,
} as const

/** Steps of a poll, in order. */
export const pollSteps = ['resolve', 'connect', 'host-key', 'sign-in', 'read', 'understand'] as const
export type PollStep = (typeof pollSteps)[number]

/** Causes of a failed poll. `pollCauses` has the cures. */
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

/** Title and cure of each failure, for the console, the documentation and the status lists. */
export const pollCauses: Readonly<Record<PollFailure, { title: string; cure: string }>> = {
  'name-not-found': {
    title: 'The host name cannot be resolved',
    cure: 'Check the spelling, and that the DNS server of the worker can resolve the name. Alternatively, enter the IP address.',
  },
  'address-refused': {
    title: 'The address is not allowed',
    cure: 'The name resolves to a link-local, multicast or cloud metadata address, or to the worker itself. Enter the address of the host.',
  },
  'connection-refused': {
    title: 'The connection was refused',
    cure: 'Start the SSH server on the host, check the port, and allow the address of the worker in the firewall.',
  },
  'connect-timeout': {
    title: 'The host does not respond',
    cure: 'Check that the host is running and that the worker can reach it. A firewall that drops packets has the same effect.',
  },
  'connection-lost': {
    title: 'The host closed the connection',
    cure: 'Check the log of the SSH server on the host. Limits such as MaxStartups and tools such as fail2ban close connections. OpenSSH 9.8 and later also close them after failed sign-ins (PerSourcePenalties): wait a minute.',
  },
  'no-common-algorithm': {
    title: 'No common SSH algorithm',
    cure: 'The message names the kind of algorithm, and what the host and the worker offer. In sshd_config of the host, allow an algorithm that the worker offers (Ciphers, KexAlgorithms, MACs or HostKeyAlgorithms). If the host offers only outdated algorithms, update its SSH server.',
  },
  'host-key-unconfirmed': {
    title: 'Confirm the host key',
    cure: 'No password was sent, because no person has confirmed the host key. On the host, run ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub and compare the fingerprint. Then confirm it in the connection, or upload a list of host keys.',
  },
  'host-key-changed': {
    title: 'The host key changed',
    cure: 'No credentials were sent. If the host was reinstalled, enter its new fingerprint in the connection. Otherwise, someone may be intercepting the connection.',
  },
  'sign-in-refused': {
    title: 'The host refused the user name, password or key',
    cure: 'Check the credentials, and that the host allows this sign-in method for the user.',
  },
  'key-unusable': {
    title: 'The private key cannot be read',
    cure: 'Enter an RSA, ECDSA or Ed25519 key in OpenSSH or PEM format. If it is encrypted, also enter its passphrase. If the worker cannot read the key, run ssh-keygen -p -f KEYFILE and enter the result.',
  },
  'no-credentials': {
    title: 'No credentials',
    cure: 'Enter a user with a password or key in the connection, or in the defaults of the worker. The default password is sent only to hosts that an Administrator added or confirmed.',
  },
  'read-timeout': {
    title: 'Reading took too long',
    cure: 'The host is overloaded, or its shell waits for input. Sign in as this user manually and check.',
  },
  'output-too-large': {
    title: 'The host sent too much output',
    cure: 'A login script prints text, or this is the wrong host. Sign in as this user manually and check.',
  },
  'not-understood': {
    title: 'The output of the host is not valid',
    cure: 'The user has a forced command or a restricted shell, or the system is unknown. Sign in as this user manually and check.',
  },
  'platform-unknown': {
    title: 'The platform was not recognised',
    cure: 'Only Linux, macOS and Windows can be polled. If the host runs one of them, select the platform in the connection.',
  },
  'not-permitted': {
    title: 'The user has no permission to read USB devices',
    cure: 'Allow the user to read /sys/bus/usb (Linux), to run PowerShell (Windows) or to run system_profiler (macOS).',
  },
  stopped: {
    title: 'The worker was stopped',
    cure: 'No action needed. The host is polled again when a worker is active.',
  },
  'worker-lost': {
    title: 'The worker did not return a result',
    cure: 'No action needed. The host is polled again. If this happens often, check the health of the worker.',
  },
}

/** Body of `register`, which exchanges a token for a key of the process. */
export const WorkerRegisterRequest = closed({
  token: Type.String({ minLength: 1, maxLength: 512, description: 'Worker token, as the server returned it.' }),
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the machine of the worker.' }),
  version: boundedText(64, 'Version of the worker.'),
})
export type WorkerRegisterRequest = Static<typeof WorkerRegisterRequest>

export const WorkerRegisterResponse = closed({
  pollerId: Type.String({ description: 'ID of this process.' }),
  key: Type.String({
    description: 'Bearer token of this process, valid until it is revoked. The server stores only its hash.',
  }),
})
export type WorkerRegisterResponse = Static<typeof WorkerRegisterResponse>

/** Identifies a poll and its lease. The fence increases with each lease, so the server detects old leases. */
const PollRef = closed({
  id: Type.String({ pattern: '^[0-9a-fA-F-]{36}$' }),
  fence: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
})

/** The result of a step of a poll. */
export const PollStepResult = closed({
  step: Type.Enum(pollSteps),
  ok: Type.Boolean(),
  ms: Type.Integer({ minimum: 0 }),
  message: boundedText(500, 'Result of the step. Control characters from the host are removed.'),
})
export type PollStepResult = Static<typeof PollStepResult>

/** Body of `lease`, which reports the state of the process, renews its leases and takes new polls. The server responds at once. */
export const WorkerLeaseRequest = closed({
  free: Type.Integer({
    minimum: 0,
    maximum: workerLimits.concurrency,
    description: 'Number of polls that the process can start now.',
  }),
  capacity: Type.Integer({ minimum: 1, maximum: workerLimits.concurrency }),
  running: Type.Array(
    closed({
      ...PollRef.properties,
      step: Type.Enum(pollSteps),
      done: Type.Optional(
        Type.Array(PollStepResult, {
          maxItems: 16,
          description: 'Completed steps. Sent for tests, because a person waits for them.',
        }),
      ),
    }),
    {
      maxItems: workerLimits.concurrency,
      description: 'Running polls. The server renews their leases and shows the steps as progress.',
    },
  ),
  version: boundedText(64, 'Version of the worker.'),
  cpu: Type.Number({ minimum: 0, maximum: 100_000, description: 'Recent CPU use, in percent of one core.' }),
})
export type WorkerLeaseRequest = Static<typeof WorkerLeaseRequest>

export const pollPlatforms = ['linux', 'macos', 'windows'] as const
export type PollPlatform = (typeof pollPlatforms)[number]

/** A host to poll. It contains secrets in plain text, so send it only over TLS or loopback and never log it. */
export const Poll = closed({
  ...PollRef.properties,
  isTest: Type.Boolean({
    description: 'True for a connection test. A person waits for it, and its result does not change the fleet.',
  }),
  host: Type.String({ minLength: 1, maxLength: 255 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  platform: nullable(Type.Enum(pollPlatforms), { description: '`null`: detect the platform.' }),
  userName: boundedText(255, 'SSH user name.'),
  password: nullable(boundedText(1_024, 'SSH password.')),
  privateKey: nullable(boundedText(65_536, 'Private key in OpenSSH or PEM format.')),
  passphrase: nullable(boundedText(1_024, 'Passphrase of the private key.')),
  hostKeyFingerprint: nullable(Type.String({ maxLength: 128 }), {
    description:
      'Fingerprint of the pinned host key, `SHA256:...`, as OpenSSH prints it. With any other key, the worker ends the poll before it sends credentials. `null`: no key is pinned; the worker sends no password.',
  }),
  isPasswordWithheld: Type.Optional(
    Type.Boolean({
      description:
        'True: the server withholds the password until a person confirms the host key. Absent if the key is confirmed.',
    }),
  ),
  limits: closed({
    connectMs: Type.Integer({ minimum: 1, description: 'Time limit for TCP and key exchange, in ms.' }),
    totalMs: Type.Integer({ minimum: 1, description: 'Time limit for the poll, in ms.' }),
    outputBytes: Type.Integer({ minimum: 1, description: 'Maximum bytes of the output of the host.' }),
  }),
})
export type Poll = Static<typeof Poll>

export const WorkerLeaseResponse = closed({
  isActivated: Type.Boolean({ description: 'False: the process gets no polls.' }),
  polls: Type.Array(Poll, { maxItems: workerLimits.concurrency }),
  stop: Type.Array(PollRef, {
    description: 'Running polls to cancel without a result.',
  }),
  nextMs: Type.Integer({
    minimum: 0,
    description: 'Milliseconds until the next lease request. The process sends it sooner if polls end.',
  }),
})
export type WorkerLeaseResponse = Static<typeof WorkerLeaseResponse>

/** The result of a poll. */
export const PollResult = closed({
  ...PollRef.properties,
  durationMs: Type.Integer({ minimum: 0 }),
  failure: nullable(Type.Enum(pollFailures), { description: 'Cause of the failure. `null`: the poll succeeded.' }),
  message: boundedText(500, 'Details of the failure, without secrets. Otherwise empty.'),
  hostKeyFingerprint: nullable(Type.String({ maxLength: 128 }), {
    description: 'Fingerprint of the presented host key. `null`: none.',
  }),
  platform: nullable(Type.Enum(pollPlatforms)),
  machineIdHash: nullable(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
    description:
      'Hash as in the agent protocol, so that the server recognises a host with and without an agent. `null`: unknown.',
  }),
  facts: nullable(HostFacts, { description: 'Facts about the host. `null` on failure.' }),
  devices: Type.Array(DeviceReport, {
    maxItems: workerLimits.devices,
    description:
      'All attached devices. macOS and Windows do not expose descriptors, so the worker builds them from other data. Such a device descriptor has bMaxPacketSize0 0, which no real device has.',
  }),
  steps: Type.Array(PollStepResult, { maxItems: 16 }),
})
export type PollResult = Static<typeof PollResult>

/** Body of `results`. A result whose lease has expired is `stale`: the server stores nothing, and the worker does not send it again. */
export const WorkerResultsRequest = closed({
  results: Type.Array(PollResult, { minItems: 1, maxItems: workerLimits.results }),
})
export type WorkerResultsRequest = Static<typeof WorkerResultsRequest>

export const WorkerResultsResponse = closed({
  stored: Type.Array(Type.String()),
  stale: Type.Array(Type.String()),
})
export type WorkerResultsResponse = Static<typeof WorkerResultsResponse>
