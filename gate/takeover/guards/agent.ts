import { defineGuards } from '../guard.ts'

/** Guards in the agent on the host. */
export const agentGuards = defineGuards({
  pinnedServer: {
    does: 'An agent sends nothing to a server whose certificate authority is not the one in its enrolment token',
    test: { file: 'agent/test/transport.test.ts', name: 'sends nothing to a server with another CA' },
    removedBy: [
      {
        file: 'agent/src/transport/tls-pin.ts',
        find: 'chain.find((one) => spkiHash(one) === hash && one',
        replace: 'chain.find((one) => spkiHash(one) !== "" && one',
      },
    ],
  },
  commandSignature: {
    does: 'An agent executes a command only if its command key signed the command for this agent, once, and not after it expired',
    test: { file: 'agent/test/policy.test.ts', name: 'do not arm a host if forged, foreign, expired or replayed' },
    removedBy: [
      {
        file: 'agent/src/commands.ts',
        find: "if (!keys.verify(signed.payload, signed.signature)) return 'its signature does not verify'",
        replace: '',
      },
    ],
    also: [
      {
        test: { file: 'agent/test/policy.test.ts', name: 'do not arm a host if forged, foreign, expired or replayed' },
        removedBy: [
          {
            file: 'agent/src/commands.ts',
            find: "if (parsed.agentId !== agentId) return 'it is for another agent'",
            replace: '',
          },
        ],
      },
      {
        test: { file: 'agent/test/policy.test.ts', name: 'do not arm a host if forged, foreign, expired or replayed' },
        removedBy: [
          {
            file: 'agent/src/commands.ts',
            find: 'if (parsed.counter <= memory.counter)\n      return',
            replace: 'if (parsed.counter < 0)\n      return',
          },
        ],
      },
      {
        test: { file: 'agent/test/policy.test.ts', name: 'do not arm a host if forged, foreign, expired or replayed' },
        removedBy: [
          { file: 'agent/src/commands.ts', find: 'if (isLate(parsed))', replace: 'if (isLate(parsed) && false)' },
        ],
      },
    ],
  },
  policySignature: {
    does: 'An agent applies a policy, even from its own disk, only if its command key signed the policy for this agent and nonce',
    test: {
      file: 'agent/test/policy.test.ts',
      name: 'file that is forged is refused: the kernel keeps its state, and the next policy is fetched',
    },
    removedBy: [
      {
        file: 'agent/src/enforcement/policy-file.ts',
        find: "if (!isSigned(payload, signature)) throw new Error('the signature of the policy does not verify')",
        replace: '',
      },
    ],
    also: [
      {
        test: {
          file: 'agent/test/policy.test.ts',
          name: 'signed by another key is refused, and the host is not armed and keeps its previous policy',
        },
        removedBy: [
          {
            file: 'agent/src/enforcement/policy-file.ts',
            find: "if (!isSigned(payload, signature)) throw new Error('the signature of the policy does not verify')",
            replace: '',
          },
        ],
      },
      {
        test: {
          file: 'agent/test/policy.test.ts',
          name: 'for another agent is refused, and the host is not armed and keeps its previous policy',
        },
        removedBy: [
          {
            file: 'agent/src/enforcement/policy-file.ts',
            find: "if (policy.agentId !== agentId) throw new Error('the policy is for another agent')",
            replace: '',
          },
        ],
      },
      {
        test: {
          file: 'agent/test/policy.test.ts',
          name: 'for another request is refused, and the host is not armed and keeps its previous policy',
        },
        removedBy: [
          {
            file: 'agent/src/enforcement/policy-file.ts',
            find: "if (policy.nonce !== nonce) throw new Error('the nonce of the policy does not match the request')",
            replace: '',
          },
        ],
      },
    ],
  },
  privateState: {
    does: 'Only root can read the state directory of the agent (0700) and its key file (0600)',
    test: {
      file: 'agent/test/loop.test.ts',
      name: 'opens a session and sends facts and the full inventory once',
    },
    removedBy: [
      {
        file: 'agent/src/platform/posix.ts',
        find: 'if ((stat.mode & OTHERS) !== 0) chmodSync(dir, 0o700)',
        replace: 'chmodSync(dir, 0o755)',
      },
    ],
    also: [
      {
        test: { file: 'agent/test/loop.test.ts', name: 'opens a session and sends facts and the full inventory once' },
        removedBy: [{ file: 'agent/src/files.ts', find: 'mode = 0o600', replace: 'mode = 0o644' }],
      },
    ],
  },
  macosInstallFolder: {
    does: 'The agent for macOS is installed only if root alone can change its folder and every folder above it',
    test: {
      file: 'agent/test/macos-install.process.test.ts',
      name: 'is not installed if others can change opt',
    },
    removedBy: [
      {
        file: 'ops/macos/install.sh',
        find: 'for path in "$program" "$config"',
        replace: 'for path in "$config"',
      },
    ],
  },
  macosStartFolder: {
    does: 'launchd does not start the agent for macOS if others can change one of its files or a folder above it',
    test: {
      file: 'agent/test/macos-install.process.test.ts',
      name: 'is not started if others can change opt/portcullis-agent/agent.cjs',
    },
    removedBy: [
      {
        file: 'ops/macos/org.portcullis.agent.plist',
        find: 'for path in / /opt /opt/portcullis-agent /opt/portcullis-agent/*; do',
        replace: 'for path in /; do',
      },
    ],
  },
  spooledChanges: {
    does: 'The agent keeps changes in its spool until the server acknowledges them, even if the agent is killed',
    test: {
      file: 'agent/test/agent.process.test.ts',
      name: 'loses no changes and reports none twice when it is killed before or after the server commits',
    },
    removedBy: [
      {
        file: 'agent/src/spool.ts',
        find: '        writeAll(fd, data)\n        fsyncSync(fd)\n        fileBytes += data.length',
        replace: '',
      },
    ],
  },
  mergedChanges: {
    does: 'While a host has no connection, the agent counts a device that returns again and again instead of storing each return',
    test: {
      file: 'agent/test/spool.test.ts',
      name: 'keeps all other changes while one device returns 10,000 times',
    },
    removedBy: [
      {
        file: 'agent/src/spool-changes.ts',
        find: 'if (same === undefined) return []',
        replace: 'return []',
      },
    ],
  },
  changesPerPort: {
    does: 'If changes fill the spool, the root port with the most bytes loses some, never another one',
    test: {
      file: 'agent/test/spool.test.ts',
      name: 'keeps all other changes while a device returns with 10,000 identities at all ports of a hub that the device pretends to be',
    },
    removedBy: [
      {
        file: 'agent/src/spool-changes.ts',
        find: '.filter(([port]) => rootPortOf(port) === root)',
        replace: '',
      },
      {
        file: 'agent/src/spool-changes.ts',
        find: '({ n }, at) => n > sentUpTo && at >= firstChanges,',
        replace: '',
      },
    ],
  },
  firstSights: {
    does: 'The agent drops repetitions and removals of a port before the first sight of any identity',
    test: {
      file: 'agent/test/spool.test.ts',
      name: 'keeps the first sight of each of 1,500 identities that return at one port',
    },
    removedBy: [
      {
        file: 'agent/src/spool-changes.ts',
        find: ' && !isFirstSight,',
        replace: ',',
      },
    ],
  },
  staysArmed: {
    does: 'A host whose network is cut after arming stays armed, unless its signed order sets a time',
    test: { file: 'agent/test/policy.test.ts', name: 'does not end if the order sets no time' },
    removedBy: [
      {
        file: 'agent/src/parse-command.ts',
        find: 'configure: ({ mode, applyToPresent, revertMinutes = 0 })',
        replace: 'configure: ({ mode, applyToPresent, revertMinutes = 10 })',
      },
    ],
  },
  reportedRevert: {
    does: 'A host that became Free without contact reports the reason when it is connected again',
    test: {
      file: 'agent/test/policy.test.ts',
      name: 'ends after the time in the order, even over a restart, and reports why',
    },
    removedBy: [
      { file: 'agent/src/enforcement/enforcer.ts', find: '        free(NO_CONTACT)', replace: "        free('')" },
    ],
  },
  grantTime: {
    does: 'A grant ends by the time that the server signed and the time since, whatever the host clock shows',
    test: { file: 'agent/test/host-time.test.ts', name: 'ends on time if the clock is set back by a year' },
    removedBy: [
      {
        file: 'agent/src/host-time.ts',
        find: 'return stamp.at + boot.elapsed() - stamp.elapsed',
        replace: 'return stamp.at',
      },
      {
        file: 'agent/src/enforcement/policy-fetch.ts',
        find: '      time.confirm(Date.parse(policy.policy.issuedAt), asked)',
        replace: '',
      },
    ],
  },
  storedTime: {
    does: 'After a restart of the host, its time resumes at the stored time',
    test: {
      file: 'agent/test/host-time.test.ts',
      name: 'is extended by a restart of the host only by the time that the host was off',
    },
    removedBy: [
      {
        file: 'agent/src/enforcement/enforcer.ts',
        find: '      if (Number.isFinite(grantsUntil)) deps.keepTime()',
        replace: '',
      },
    ],
  },
  agentReleaseKey: {
    does: 'An agent installs only builds signed with its built-in release key; the server’s command key cannot install anything',
    test: {
      file: 'agent/test/release-key.test.ts',
      name: 'a stolen command key with a foreign release key installs nothing, and is reported',
    },
    removedBy: [
      {
        file: 'agent/src/update/fetch-build.ts',
        find: 'if (running.releaseKey !== build.releaseKey)',
        replace: "if (running.releaseKey === '')",
      },
      {
        file: 'agent/src/update/fetch-build.ts',
        find: 'if (!verifySignature(running.releaseKey, packageProofText(build), build.releaseSignature))',
        replace: 'if (!verifySignature(build.releaseKey, packageProofText(build), build.releaseSignature))',
      },
    ],
  },
  driverMismatch: {
    does: 'An armed host blocks a device whose kernel drivers contradict its claim, holds its port and reports the evidence',
    test: {
      file: 'agent/test/kernel-truth.test.ts',
      name: 'blocks a hub that has the driver of a network card, and reports the evidence',
    },
    removedBy: [
      {
        file: 'agent/src/enforcement/truth.ts',
        find: "return part('unknown', mismatch) === null ? mismatch : { ...mismatch, kernel: release() }",
        replace: 'return null',
      },
    ],
  },
  heldPortsKept: {
    does: 'A host never releases a held port by itself: with 64 held ports, it authorises no further device and reports this',
    test: {
      file: 'agent/test/kernel-truth.test.ts',
      name: 'releases no port for another, authorises no further devices and reports it',
    },
    removedBy: [
      {
        file: 'agent/src/enforcement/holds.ts',
        find: "if (held.length >= agentLimits.heldPorts) return 'full'",
        replace: 'held = held.slice(-(agentLimits.heldPorts - 1))',
      },
    ],
  },
  hubShape: {
    does: 'Only a device with the exact shape of a hub passes as a hub without a rule',
    test: {
      file: 'domain/test/drivers.test.ts',
      name: 'no descriptors pass as a hub unless hub is the only driver by class',
    },
    removedBy: [
      {
        file: 'domain/src/hub.ts',
        find: 'parsed.deviceClass === HUB_CLASS &&\n    parsed.numConfigurations === 1 &&\n    more.length === 0 &&',
        replace: '',
      },
      {
        file: 'domain/src/hub.ts',
        find: '(settings.length === 1 || settings.length === 2) &&\n    settings.every(',
        replace: 'settings.some(',
      },
    ],
  },
  signedRevocation: {
    does: 'An agent accepts a revocation only if its command key signed it for this enrolment',
    test: {
      file: 'agent/test/command-key.test.ts',
      name: 'signed by another key keeps an armed host armed, and is reported',
    },
    removedBy: [
      {
        file: 'agent/src/command-keys.ts',
        find: "if (!isSignedRevocation(revocation, keys)) return 'its signature does not verify'",
        replace: 'void [isSignedRevocation, keys]',
      },
    ],
  },
  attackToolNeverSpared: {
    does: 'The exception for the last keyboard never covers attack tools or denied devices',
    test: {
      file: 'agent/test/no-exception.test.ts',
      name: 'is blocked if it is an attack tool, even if it was attached before the agent started',
    },
    removedBy: [
      {
        file: 'agent/src/enforcement/pass.ts',
        find: "hold === undefined && decision.source === 'default' && (settled",
        replace: 'hold === undefined && (settled',
      },
    ],
    also: [
      {
        test: { file: 'agent/test/no-exception.test.ts', name: 'is blocked if a rule denies it' },
        removedBy: [
          {
            file: 'agent/src/enforcement/pass.ts',
            find: "hold === undefined && decision.source === 'default' && (settled",
            replace: 'hold === undefined && (settled',
          },
        ],
      },
    ],
  },
})
