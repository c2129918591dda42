import { defineGuards } from '../guard.ts'

/** Guards between hosts, workers and the server. */
export const fleetGuards = defineGuards({
  feedToken: {
    does: 'Only the API token of a feed can send to it',
    test: { file: 'server/src/features/fleet/feeds/feeds.test.ts', name: 'takes events only from its own token' },
    removedBy: [
      {
        file: 'server/src/features/fleet/feeds/feeds.service.ts',
        find: "if (actor.kind !== 'apiToken' || actor.credentialId !== feed.token_id)",
        replace: 'if (actor.credentialId === feed.feed_id)',
      },
    ],
  },
  feedCoversNoAgent: {
    does: 'A feed changes no host that has an agent, and its host gives way to an agent that enrols',
    test: {
      file: 'server/src/features/fleet/feeds/feeds.test.ts',
      name: 'changes no host that has an agent, and its host gives way to an agent that enrols',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/feeds/feeds.service.ts',
        find: 'const missing = names.filter((name) => !covered.has(name) && !known.has(name))',
        replace: 'covered.clear()\n    const missing = names.filter((name) => !known.has(name))',
      },
    ],
  },
  feedLimits: {
    does: 'A feed adds a limited number of hosts per hour, and takes a limited number of lines',
    test: {
      file: 'server/src/features/fleet/feeds/feeds.test.ts',
      name: 'adds no more new hosts per hour than its limit, and takes the others later',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/feeds/feeds.service.ts',
        find: 'Math.max(0, feed.new_hosts_per_hour - used)',
        replace: 'hostsAtOnce',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/fleet/feeds/feeds.test.ts',
          name: 'takes a limited number of lines, and more after a while',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/feeds/feeds.service.ts',
            find: 'level: levelOf(feedId) - lines,',
            replace: 'level: levelOf(feedId) - 0 * lines,',
          },
        ],
      },
    ],
  },
  nacSeesHost: {
    does: 'An automatic quarantine covers only MAC addresses that Cisco ISE or CounterACT sees at the address that the host connects from',
    test: {
      file: 'server/src/features/outbound/nac/nac.confirmed.test.ts',
      name: 'awaits approval for machines that a hostile host reports as its own',
    },
    removedBy: [
      {
        file: 'server/src/features/outbound/nac/runner.ts',
        find: 'if (row.is_approved) return macs',
        replace: 'if (row.is_automatic) return macs',
      },
    ],
  },
  nacSeesOneMachine: {
    does: 'An automatic quarantine covers no MAC address if Cisco ISE or CounterACT sees another machine at the address of the host',
    test: {
      file: 'server/src/features/outbound/nac/nac.confirmed.test.ts',
      name: 'awaits approval if ISE sees another machine at the address since',
    },
    removedBy: [
      {
        file: 'server/src/features/outbound/nac/systems.ts',
        find: 'return there.mac === mac && there.nasAddress',
        replace: 'return there.mac !== address || there.nasAddress',
      },
    ],
  },
  nacOneAddressOneHost: {
    does: 'An address that several hosts connect from confirms no automatic quarantine',
    test: {
      file: 'server/src/features/outbound/nac/nac.confirmed.test.ts',
      name: 'awaits approval if several hosts connect from one address',
    },
    removedBy: [
      {
        file: 'server/src/features/outbound/nac/runner.ts',
        find: 'return other === null ? null :',
        replace: 'return other !== address ? null :',
      },
    ],
  },
  agentSession: {
    does: 'A host proves possession of its key for each session with a proof that works once, and its session token has a MAC from the server',
    test: {
      file: 'server/src/features/fleet/ingest/check-in.test.ts',
      name: 'need the key, a fresh nonce and a current token',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agents/sessions.service.ts',
        find: "if (!verify(algorithm, Buffer.from(sessionProofText(request)), key, Buffer.from(request.signature, 'base64')))\n      throw new AppError('agent_unknown')",
        replace: 'void [verify, algorithm, sessionProofText]',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/fleet/ingest/check-in.test.ts',
          name: 'need the key, a fresh nonce and a current token',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/agents/session-token.ts',
            find: 'if (!timingSafeEqual(mac(payload), bytes.subarray(36))) return null',
            replace: 'void timingSafeEqual',
          },
        ],
      },
      {
        test: {
          file: 'server/src/features/fleet/agents/proofs.test.ts',
          name: 'opens no session, whenever it is replayed',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/agents/sessions.service.ts',
            find: "new Date(until))))\n        throw new AppError('agent_unknown')",
            replace: 'new Date(until))))\n        void 0',
          },
          {
            file: 'server/src/features/fleet/agents/sessions.store.ts',
            find: "if (!entry.isNonceKept && proofAt <= (current?.proof_floor ?? 0)) return 'stale'",
            replace: '',
          },
          {
            file: 'server/src/features/fleet/agents/sessions.store.ts',
            find: "if (proofAt <= known.proof_at && !entry.isFresh) return 'stale'",
            replace: '',
          },
        ],
      },
    ],
  },
  boundedProofs: {
    does: 'A session request of a host counts for five minutes, even if it was never used; with a wrong clock, the host signs a nonce of the server',
    test: {
      file: 'server/src/features/fleet/agents/proofs.test.ts',
      name: 'counts for five minutes, although nobody used it before',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agents/sessions.service.ts',
        find: 'if (!isFresh && (isBounded || agent.bounded_proofs))',
        replace: 'if (!isFresh && (isBounded || agent.bounded_proofs) && now < 0)',
      },
    ],
  },
  agentAudience: {
    does: 'The credentials of a host give no access to operations for people',
    test: {
      file: 'server/src/features/fleet/ingest/check-in.test.ts',
      name: 'do not work on the routes for people, and vice versa',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/authorise.ts',
        find: "if (actor === null) throw new AppError('unauthorized')",
        replace: 'if (actor === null) return anonymous(request.ip)',
      },
    ],
  },
  ownAcknowledgements: {
    does: 'A host can acknowledge only its own commands',
    test: {
      file: 'server/src/features/fleet/commands/commands.test.ts',
      name: 'cannot be ended by a forged report of another host',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/commands/commands.store.ts',
        find: 'u.command_id = c.command_id and u.agent_id = c.agent_id',
        replace: 'u.command_id = c.command_id',
      },
    ],
  },
  boundedConnections: {
    does: 'The server limits connections without a credential, per address and in total, and never closes a connection with a credential to make room for them',
    test: {
      file: 'server/src/platform/http/connections.test.ts',
      name: 'are limited per address, and those of agents and of other addresses stay open',
    },
    removedBy: [
      { file: 'server/src/platform/http/lifecycle.ts', find: '  connections.watch(fastify.server)\n', replace: '' },
    ],
    also: [
      {
        test: {
          file: 'server/src/platform/http/connections.test.ts',
          name: 'are closed oldest first when the process runs out of files, and authenticated ones stay open',
        },
        removedBy: [
          {
            file: 'server/src/platform/http/connections.ts',
            find: 'return all.size + announced.size > limits.total &&',
            replace: 'return all.size < 0 &&',
          },
        ],
      },
    ],
  },
  countedReaders: {
    does: 'A connection without a credential counts while it reads its response',
    test: {
      file: 'server/src/platform/http/connections.test.ts',
      name: 'are limited per address while they read a response as well',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/connections.ts',
        find: '      response.writeHead = ((',
        replace: '      const _writeHead = ((',
      },
    ],
  },
  ownedConnections: {
    does: 'A session, API token, account or agent has a limit of connections',
    test: {
      file: 'server/src/platform/http/connections.test.ts',
      name: 'are limited per credential and per account: one that is idle makes room, and one in use does not',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/connections.ts',
        find: 'if (isOwned && !hasRoom(one, owner)) return false',
        replace: '',
      },
    ],
  },
  minimumRate: {
    does: 'A client that reads its response slower than 8 KiB per second is disconnected',
    test: {
      file: 'server/src/platform/http/connections.test.ts',
      name: 'that read too slowly are disconnected, and those who read, or for whom nothing waits, are not',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/readers.ts',
        find: 'if (accepted - backlog.accepted < wanted) end(one)',
        replace: 'if (accepted - backlog.accepted < -1) end(one)',
      },
    ],
  },
  boundedDownloads: {
    does: 'Downloads of the agent without a credential are limited per address and in total',
    test: {
      file: 'server/src/features/fleet/agents/windows-installer.test.ts',
      name: 'without a token is limited to 32 downloads at once per address',
    },
    removedBy: [
      { file: 'server/src/platform/download-slots.ts', find: '    assertRoom(one.address, one.since)\n', replace: '' },
    ],
  },
  survivedShortages: {
    does: 'A timer that fails at the limit of open files does not end the process',
    test: {
      file: 'server/src/platform/last-resort.process.test.ts',
      name: 'a timer that fails at the limit of open files does not end the process',
    },
    removedBy: [
      { file: 'server/src/platform/last-resort.ts', find: "  process.on('uncaughtException', handle)\n", replace: '' },
    ],
  },
  oneWakeSocket: {
    does: 'An agent has one wake socket: a new socket closes the previous one immediately',
    test: {
      file: 'server/src/features/fleet/ingest/wake.test.ts',
      name: 'are limited to one: a new one closes the previous one, even if its peer never responds',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/ingest/wake.ts',
        find: 'sockets.get(session.agentId)?.terminate()',
        replace: 'sockets.get(session.agentId)?.close(1000)',
      },
    ],
  },
  agentQuota: {
    does: 'Each host has a quota of reports; a host over its quota does not slow others down',
    test: { file: 'server/src/features/fleet/ingest/quota.test.ts', name: 'has to wait, while others are served' },
    removedBy: [
      {
        file: 'server/src/features/fleet/ingest/quota.ts',
        find: 'if (level <= 0) throw tooMany(',
        replace: 'if (level < -1e15) throw tooMany(',
      },
    ],
  },
  hourlyEvents: {
    does: 'The server limits the events of a host per hour, stores the first event of each kind and device, and counts the others in summaries',
    test: {
      file: 'server/src/features/fleet/ingest/event-limit.test.ts',
      name: 'a device that returns 3,000 times raises a limited number of events, and a summary counts the others',
    },
    removedBy: [
      {
        file: 'server/src/features/system/events/events.merging.ts',
        find: 'const mostEvents = 500',
        replace: 'const mostEvents = 500_000',
      },
    ],
  },
  deviceText: {
    does: 'Text from hosts and devices is cleaned before it is stored and encoded wherever it is shown',
    test: {
      file: 'server/src/features/fleet/ingest/hostile.test.ts',
      name: 'never leave a control or direction mark in any answer',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agents/facts.ts',
        find: 'const clean = (text: string, max = 255): string => cleanText(text, max)',
        replace:
          "const clean = (text: string, max = 255): string => cleanText('', max) + text.slice(0, max).replaceAll('\\0', '')",
      },
    ],
  },
  armedPredecessor: {
    does: 'A new enrolment never takes over the identity of an armed host',
    test: {
      file: 'server/src/features/fleet/agents/host-identity.test.ts',
      name: 'is a possible duplicate of an armed predecessor, which keeps its key even when disconnected',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agents/enrollment.service.ts',
        find: '          !host.armed &&\n',
        replace: '',
      },
    ],
  },
  copiedKey: {
    does: 'A copied host key raises a critical event as soon as both hosts use it',
    test: {
      file: 'server/src/features/fleet/ingest/check-in.test.ts',
      name: 'reveal a copied key: an earlier boot that returns raises an event, and both are served in turn',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agents/sessions.service.ts',
        find: 'if (entered.isOld)\n',
        replace: 'if (entered.isOld && false)\n',
      },
    ],
  },
  polledIdentity: {
    does: 'A polled host that claims another machine’s identifiers is shown beside it and hides nothing',
    test: {
      file: 'server/src/features/fleet/agentless/agentless.test.ts',
      name: 'is listed and reported separately if it claims to be another host',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agentless/polls.store.ts',
        find: `where o.host_key = \${hostKey} and o.connection_id <>`,
        replace: `where \${hostKey}::text is not null and o.connection_id <>`,
      },
    ],
  },
  pollBounds: {
    does: 'A poll has bounds of time and output',
    test: {
      file: 'poller/test/poll.process.test.ts',
      name: 'limits the time and output of a host, and reports invalid output',
    },
    removedBy: [
      { file: 'poller/src/ssh.ts', find: 'if (size > poll.limits.outputBytes) {', replace: 'if (size > 1e12) {' },
      {
        file: 'poller/src/ssh.ts',
        find: 'if (socket.bytesRead > poll.limits.outputBytes + overheadBytes)',
        replace: 'if (socket.bytesRead > 1e12)',
      },
    ],
    also: [
      {
        test: {
          file: 'poller/test/poll.process.test.ts',
          name: 'limits the time and output of a host, and reports invalid output',
        },
        removedBy: [
          { file: 'poller/src/poll.ts', find: 'poll.limits.totalMs)', replace: 'poll.limits.totalMs + 3_600_000)' },
        ],
      },
    ],
  },
  machineCredentialFirst: {
    does: 'Routes of machines verify the credential and the quota before they read a body; a stranger gets 16 KiB',
    test: {
      file: 'server/src/platform/http/unread-bodies.test.ts',
      name: 'is answered by every operation without being read',
    },
    removedBy: [
      {
        file: 'server/src/platform/http/request-hooks.ts',
        find: 'if ((request as OurRequest).isKnown !== true) turnAway(request.raw, reply.raw)\n      else if',
        replace: 'void turnAway\n      if',
      },
    ],
  },
  enrolmentTokenHidden: {
    does: 'The enrolment token is read from standard input or a private file, never from arguments',
    test: {
      file: 'server/src/features/fleet/agents/install/install.test.ts',
      name: 'refuses a token as an argument, and explains that it was visible',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agents/install/script.ts',
        find: "*:pce_*) fail 'every user of this host can read arguments. Revoke this token, create another one, and enter it when prompted.' ;;",
        replace: '*:pce_*) TOKEN_FILE= ;;',
      },
    ],
  },
  confirmedKeys: {
    does: 'The server gives a worker the password of a polled host only after a person has confirmed its host key; a sign-in with a private key confirms nothing',
    test: {
      file: 'server/src/features/fleet/agentless/agentless.test.ts',
      name: 'gets no password on a key that is only trusted on first use, whoever uploads the list',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agentless/polls.service.ts',
        find: 'const isUnconfirmed = !isKeyConfirmed(row)',
        replace: "const isUnconfirmed = row.host_key === '' && !isKeyConfirmed(row)",
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/fleet/agentless/activation.test.ts',
          name: 'gets no default password for a host key that was confirmed for own credentials or another port',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/agentless/connections.service.ts',
            find: 'isKeyConfirmed(row) && !isRedirected(row, next)',
            replace: 'isKeyConfirmed(row) && row.host_key === next.host_key',
          },
        ],
      },
    ],
  },
  withheldPassword: {
    does: 'A worker sends a password only to a host whose pinned key it sees, and never while the server withholds it',
    test: {
      file: 'poller/test/poll.process.test.ts',
      name: 'sends no password to a server whose host key no person has confirmed, and returns its key',
    },
    removedBy: [
      {
        file: 'poller/src/ssh.ts',
        find: 'const isUnconfirmed = poll.hostKeyFingerprint === null || ',
        replace: 'const isUnconfirmed = ',
      },
    ],
    also: [
      {
        test: {
          file: 'poller/test/poll.process.test.ts',
          name: 'sends no password to a server whose host key no person has confirmed, and returns its key',
        },
        removedBy: [
          {
            file: 'poller/src/ssh.ts',
            find: 'poll.hostKeyFingerprint === null || poll.isPasswordWithheld === true',
            replace: 'poll.hostKeyFingerprint === null',
          },
        ],
      },
    ],
  },
  activatedWorkers: {
    does: 'Each worker process is activated by itself, with fresh authentication, before it receives any credentials',
    test: {
      file: 'server/src/features/fleet/agentless/activation.test.ts',
      name: 'gets no credentials through an API token, and a process that registers later needs another activation',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agentless/worker.store.ts',
        find: 'and p.is_activated and p.poller_id',
        replace: 'and p.poller_id',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/fleet/agentless/activation.test.ts',
          name: 'gets no credentials through an API token, and a process that registers later needs another activation',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/agentless/worker.service.ts',
            find: 'assertFresh(actor, clock.now())',
            replace: 'void assertFresh',
          },
        ],
      },
    ],
  },
  confirmedComputers: {
    does: 'The default password goes only to computers that an Administrator added or confirmed with fresh authentication',
    test: {
      file: 'server/src/features/fleet/agentless/activation.test.ts',
      name: 'never sends the default password to a computer that an API token or a stale session added',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agentless/connections.service.ts',
        find: "isAdministrator(actor) && (actor.kind === 'system' || isFresh(actor, now))",
        replace: 'isAdministrator(actor) || isFresh(actor, now)',
      },
    ],
  },
})
