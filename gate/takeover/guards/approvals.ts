import { defineGuards } from '../guard.ts'

const links = 'server/src/features/system/approvals/links-and-settings.test.ts'
const bypasses = 'server/src/features/system/approvals/bypasses.test.ts'

/** Guards that need a second approver. */
export const approvalGuards = defineGuards({
  approverForFree: {
    does: 'Freeing or deleting more hosts than the limit within 15 minutes needs a second approver',
    test: {
      file: 'server/src/features/system/approvals/second-approver.test.ts',
      name: 'cannot be split into small steps',
    },
    removedBy: [
      {
        file: 'domain/src/approval-gate.ts',
        find: 'limit !== null && released + wish.hosts > limit',
        replace: 'limit !== null && released < 0',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/system/approvals/second-approver.test.ts',
          name: 'applies to bulk actions and deletion, and is shown in the preview',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/actions/bulk.service.ts',
            find: "action === 'free' || action === 'delete'",
            replace: "action === 'delete'",
          },
        ],
      },
    ],
  },
  latchedGate: {
    does: 'The gate stays on once two Administrators have existed; only the server’s command line can lift it',
    test: { file: bypasses, name: 'the gate stays on after the other Administrator is removed' },
    removedBy: [
      {
        file: 'server/src/features/system/approvals/approvals.store.ts',
        find: 'select (g.is_latched or (select',
        replace: 'select ((g.is_latched and false) or (select',
      },
    ],
  },
  approverForRules: {
    does: 'A rule change that newly allows devices on more hosts than the limit needs a second approver',
    test: { file: bypasses, name: 'one allow rule for all kinds needs a second approver' },
    removedBy: [
      {
        file: 'domain/src/approval-gate.ts',
        find: '(wish.hosts > 0 && allowed + wish.hosts > limit)',
        replace: 'allowed < 0',
      },
    ],
  },
  approverForUnseen: {
    does: 'An allow rule without a host and a serial number counts every host in its scope, whether it has seen such a device or not',
    test: {
      file: 'server/src/features/system/approvals/unseen-devices.test.ts',
      name: 'ids that no host has seen',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/newly-allowed.ts',
        find: '!namesSerial(r) || r.override_attack_tool',
        replace: '(r.pid === null && r.fingerprint === null) || r.override_attack_tool',
      },
    ],
  },
  unseenBehindDeny: {
    does: 'Removing a deny, or the tag that it is for, counts the hosts whose own allows without a serial number may match its devices, seen or not',
    test: {
      file: 'server/src/features/system/approvals/unseen-devices.test.ts',
      name: 'a deleted or narrowed deny, and allows for a kind',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/newly-allowed.ts',
        find: 'if (unseenDenies.length > 0)',
        replace: 'if (unseenDenies.length < 0)',
      },
    ],
  },
  namedHostsForTokens: {
    does: 'An API token can write an allow rule without a serial number for named hosts only',
    test: {
      file: 'server/src/features/system/approvals/unseen-devices.test.ts',
      name: 'a rule for all hosts is refused, whatever the limit',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/changes.service.ts',
        find: "if (isForAnyHost && actor.kind === 'apiToken') throw new AppError('named_hosts_required')",
        replace: '',
      },
    ],
  },
  approverForAdministrator: {
    does: 'Disabling, demoting or deleting another Administrator, or setting their password, second factor or email address, needs a second approver',
    test: {
      file: bypasses,
      name: 'disabling, demoting or deleting the other Administrator needs a second approver and does not lift the gate',
    },
    removedBy: [
      {
        file: 'domain/src/approval-gate.ts',
        find: 'return wish.isAdministrator && !wish.isOwn',
        replace: 'return wish.isAdministrator && wish.isOwn',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/system/approvals/bypasses.test.ts',
          name: 'resetting the second factor of the other Administrator needs a second approver',
        },
        removedBy: [
          {
            file: 'server/src/features/people/accounts/mfa.service.ts',
            find: "if (approved === null && !(await mayChangeAlone(approvals, tx, actor, account, ['factor'])))",
            replace: 'if (approved === null && !(await mayChangeAlone(approvals, tx, actor, account, [])))',
          },
        ],
      },
      {
        test: {
          file: 'server/src/features/system/approvals/bypasses.test.ts',
          name: 'setting the password of the other Administrator needs a second approver',
        },
        removedBy: [
          {
            file: 'server/src/features/people/accounts/accounts.approval.ts',
            find: 'change,\n      isAdministrator: account.user_profile === profiles.administrator,',
            replace:
              "change,\n      isAdministrator: account.user_profile === profiles.administrator && change !== 'password',",
          },
        ],
      },
    ],
  },
  independentApprover: {
    does: 'The requester cannot approve through an account that they created, promoted or set the password of',
    test: {
      file: bypasses,
      name: 'accounts that one person created cannot approve for that person, even indirectly',
    },
    removedBy: [
      {
        file: 'domain/src/approval-gate.ts',
        find: "some((one) => mine.has(one)) ? 'related' : null",
        replace: 'some((one) => mine.has(one)) ? null : null',
      },
    ],
  },
  approverForPackage: {
    does: 'Publishing an agent build, exactly as it was requested, and updating hosts need a second approver once two Administrators have existed',
    test: {
      file: 'server/src/features/fleet/packages/packages.approval.test.ts',
      name: 'a build waits for a second approver, and exactly this build is published',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/packages/packages.service.ts',
        find: "const isPending = !(await approvals.mayAlone(actor, { kind: 'program' }, tx))",
        replace: "const isPending = !(await approvals.mayAlone(actor, { kind: 'program' }, tx)) && false",
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/fleet/packages/packages.approval.test.ts',
          name: 'a build that was replaced in the database is not published by the approval',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/packages/packages.service.ts',
            find: "|| row.sha256.toString('hex') !== sha256 || !isOurs(row)",
            replace: "|| row.sha256.toString('hex') === sha256.slice(1) || !isOurs(row)",
          },
        ],
      },
      {
        test: {
          file: 'server/src/features/fleet/packages/packages.approval.test.ts',
          name: 'an update of named hosts, in bulk or in rings needs a second approver',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/actions/gated.ts',
            find: 'if (update.length === 0 || (await approvals',
            replace: 'if (update.length >= 0 || (await approvals',
          },
        ],
      },
      {
        test: {
          file: 'server/src/features/fleet/packages/packages.approval.test.ts',
          name: 'an update of named hosts, in bulk or in rings needs a second approver',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/rollouts/rollouts.service.ts',
            find: "if (row.kind === 'update' && !(await approvals.mayAlone(actor, { kind: 'program' }))) {",
            replace:
              "if (row.kind === 'update' && row.name === '' && !(await approvals.mayAlone(actor, { kind: 'program' }))) {",
          },
        ],
      },
    ],
  },
  approverForKnowledge: {
    does: 'Knowledge, which decides what counts as an attack tool, comes into force only with fresh authentication and a second approver',
    test: {
      file: 'server/src/features/devices/knowledge/knowledge.approval.test.ts',
      name: 'activating or withdrawing knowledge needs a second approver',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/knowledge/knowledge.service.ts',
        find: "if (!(await approvals.mayAlone(actor, { kind: 'program' })))",
        replace: "if (actor.kind === 'apiToken')",
      },
    ],
  },
  approverForKnowledgeKey: {
    does: 'Trusting the first key that signs knowledge needs fresh authentication and a second approver, who reads its fingerprint',
    test: {
      file: 'server/src/features/devices/knowledge/knowledge.approval.test.ts',
      name: 'trusting the first key needs fresh authentication and a second approver',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/knowledge/knowledge.service.ts',
        find: "if (await approvals.mayAlone(actor, { kind: 'program' })) return",
        replace: "if (actor.kind !== 'apiToken') return",
      },
    ],
  },
  approverForFactors: {
    does: 'Switching off a required second factor, or extending its grace period, needs fresh authentication and a second approver in every operation that can do it',
    test: {
      file: 'server/src/features/people/accounts/second-factor.test.ts',
      name: 'relaxing the requirement needs fresh authentication and a second approver, whichever way it is changed',
    },
    removedBy: [
      {
        file: 'server/src/features/system/settings/settings.fresh.ts',
        find: 'groupOfItem(change.name) === group) || relaxesFactor(change)',
        replace: 'groupOfItem(change.name) === group) || (relaxesFactor(change) && false)',
      },
    ],
  },
  approverForWorker: {
    does: 'A worker process receives credentials of polled hosts only after a second approver activated it',
    test: {
      file: 'server/src/features/fleet/agentless/activation.test.ts',
      name: 'is activated by a second approver after two Administrators have existed',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/agentless/worker.service.ts',
        find: "if (!(await approvals.mayAlone(actor, { kind: 'program' })))",
        replace: "if (actor.kind === 'apiToken')",
      },
    ],
  },
  approverForLinks: {
    does: 'Changing the mail server or the domain name, which decide who receives set-password links, needs fresh authentication and a second approver on every path',
    test: {
      file: links,
      name: 'one Administrator alone can change neither the mail server nor the domain name, on any path',
    },
    removedBy: [
      {
        file: 'server/src/features/system/settings/settings.fresh.ts',
        find: "export const signInGroups = ['ldap', 'oidc', 'smtp', 'domain'] as const",
        replace: "export const signInGroups = ['ldap', 'oidc'] as const",
      },
    ],
  },
  mailedLinkHold: {
    does: 'An account whose password was set by a mailed link does not approve for 24 hours',
    test: {
      file: links,
      name: 'an account whose password was set by a mailed link cannot approve for 24 hours',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/password-links.service.ts',
        find: 'if (taken.is_mailed) await',
        replace: 'if (taken.is_mailed && false) await',
      },
    ],
  },
  linkHold: {
    does: 'An account whose link was created after a change of the mail server or domain name does not approve until 24 hours after that change',
    test: {
      file: links,
      name: 'an account whose link was created after a change of the domain name cannot approve for 24 hours',
    },
    removedBy: [
      {
        file: 'server/src/features/people/accounts/password-links.service.ts',
        find: 'if (held !== null) await',
        replace: 'if (held !== null && false) await',
      },
    ],
  },
  queuedLinks: {
    does: 'A queued mail with a set-password link is sent only to the mail server that was configured when it was queued',
    test: {
      file: 'server/src/features/outbound/mail/mail.test.ts',
      name: 'is not sent to a mail server that was changed after it was queued',
    },
    removedBy: [
      {
        file: 'server/src/features/outbound/mail/mail.service.ts',
        find: 'written.onlyTo !== undefined && written.onlyTo !== serverOf(server)',
        replace: "written.onlyTo === '' && written.onlyTo !== serverOf(server)",
      },
    ],
  },
  exactSettings: {
    does: 'A request for sign-in or policy settings shows old and new values, and is refused when it would change anything else',
    test: {
      file: links,
      name: 'a second approver sees old and new values, and exactly those are applied',
    },
    removedBy: [
      {
        file: 'server/src/features/system/settings/settings.service.ts',
        find: 'if (!isSameChange(changesOf(before, after, exactly), change.changes))',
        replace: 'if (!isSameChange(changesOf(before, after, exactly), changesOf(before, after, exactly)))',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/system/approvals/request-details.test.ts',
          name: 'a request whose old values are no longer in force is refused',
        },
        removedBy: [
          {
            file: 'server/src/features/devices/policy/policy.settings.ts',
            find: 'before !== undefined && before[name] !== now[name]',
            replace: 'before === null && before[name] !== now[name]',
          },
        ],
      },
    ],
  },
  shownChange: {
    does: 'The approver reads everything that a request carries out, widest effect first, and approves exactly that',
    test: {
      file: 'server/src/features/system/approvals/request-details.test.ts',
      name: 'the widest rule comes first, and the pages and the file have every rule',
    },
    removedBy: [
      {
        file: 'server/src/features/system/approvals/approvals.service.ts',
        find: "if (digestOf(request) !== digest) throw new AppError('change_differs')",
        replace: '',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/system/approvals/attached-devices.test.ts',
          name: 'in bulk lists the devices, and the approval allows only these',
        },
        removedBy: [
          {
            file: 'server/src/features/devices/policy/approvals.service.ts',
            find: 'if (only !== null && !only.has(attachedKey(device))) continue',
            replace: '',
          },
        ],
      },
    ],
  },
  sealedTitle: {
    does: 'The title of a request is sealed like its lines, so that a database writer cannot make it look harmless',
    test: {
      file: 'server/src/features/system/approvals/request-details.test.ts',
      name: 'the title is sealed, even without details',
    },
    removedBy: [
      {
        file: 'server/src/features/system/approvals/seal.ts',
        find: 'if (!isSame(request.shown_seal, shownSealOf(request))) throw notAuthentic()',
        replace: '',
      },
      {
        file: 'server/src/features/system/approvals/seal.ts',
        find: '...(r.details.length === 0 ? [] : [r.title, r.details]),',
        replace: '',
      },
    ],
  },
  rejectedByApprovers: {
    does: 'Only the requester and accounts that may approve a request can reject it, with fresh authentication',
    test: {
      file: links,
      name: 'rejecting a request needs a fresh session of an account that may approve it, or of the requester',
    },
    removedBy: [
      {
        file: 'server/src/features/system/approvals/approvals.service.ts',
        find: 'if (request.requested_by_account !== actor.accountId) {',
        replace: "if (request.requested_by_account === '') {",
      },
    ],
  },
  hiddenAllows: {
    does: 'A rule that ends soon, such as a deny, does not hide what another rule newly allows',
    test: {
      file: 'server/src/features/system/approvals/hidden-allows.test.ts',
      name: 'a deny that ends soon does not hide an allow',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/newly-allowed.read.ts',
        find: 'p.source = u.source or (',
        replace: 'p.source = u.source and (true or ',
      },
    ],
  },
  laterHosts: {
    does: 'A rule that allows a known attack tool on hosts that are added later needs a second approver',
    test: {
      file: 'server/src/features/system/approvals/hidden-allows.test.ts',
      name: 'allowing an attack tool on later hosts needs a second approver, even without hosts',
    },
    removedBy: [
      {
        file: 'domain/src/approval-gate.ts',
        find: 'wish.isForLaterHosts === true ||',
        replace: '',
      },
    ],
  },
  guardedDevices: {
    does: 'Deleting a deny counts the armed hosts whose agents may then allow its devices',
    test: {
      file: 'server/src/features/system/approvals/late-orders.test.ts',
      name: 'deleting a deny counts armed hosts whose guards may allow its devices',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/newly-allowed.ts',
        find: 'opened.push({ ...one, isGuarded: !allowed.has(fingerprintId) })',
        replace: 'if (allowed.has(fingerprintId)) opened.push(one)',
      },
    ],
  },
  lateOrders: {
    does: 'A job never allows devices on more hosts than were counted when it was created',
    test: {
      file: 'server/src/features/system/approvals/late-orders.test.ts',
      name: 'an approval of attached devices covers no further hosts when rules change before the job runs',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/actions/bulk.service.ts',
        find: 'await approvePresent(tx, actor, agentIds, async () => {}, granted, only)',
        replace: 'await approvePresent(tx, actor, agentIds, async () => {}, Number.POSITIVE_INFINITY, only)',
      },
    ],
  },
  countedRevert: {
    does: 'Reverting a rollout counts every host that it frees, including hosts armed in the meantime',
    test: {
      file: 'server/src/features/fleet/rollouts/rollouts.test.ts',
      name: 'a revert also counts hosts that the rollout arms in the meantime',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/rollouts/rollouts.service.ts',
        find: 'if (hosts > counted) return { name: row.name, hosts }',
        replace: '',
      },
    ],
  },
  countedUpdate: {
    does: 'An update of named hosts reaches only the hosts that were counted',
    test: {
      file: 'server/src/features/fleet/packages/packages.approval.test.ts',
      name: 'removing a host during an update does not bypass the second approver',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/actions/on-ids.service.ts',
        find: '      refuseAgentless(asked)\n      await refuseUpdate(',
        replace: '      if (!asked.some((target) => target.agentless)) await refuseUpdate(',
      },
    ],
  },
  approverForTags: {
    does: 'Changing tags that rules use on more hosts than the limit needs a second approver',
    test: {
      file: 'server/src/features/system/approvals/tag-changes.test.ts',
      name: 'nobody alone can remove a deny by deleting its tag or untagging its hosts',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/tag-gate.ts',
        find: 'if (limit !== null)',
        replace: 'if (limit === -1)',
      },
    ],
  },
  approverForDrivers: {
    does: 'Unexpected kernel drivers are accepted on more hosts than the limit only with a second approver',
    test: {
      file: 'server/src/features/fleet/held-ports/held-ports.test.ts',
      name: 'need two people to accept drivers on more hosts than the limit',
    },
    removedBy: [
      {
        file: 'server/src/features/fleet/held-ports/index.ts',
        find: 'if (accept && approved === null) await assertAlone(tx, actor, { agentId, id, ...found })',
        replace: '',
      },
    ],
    also: [
      {
        test: {
          file: 'server/src/features/fleet/held-ports/held-ports.test.ts',
          name: 'need two people to accept drivers on more hosts than the limit',
        },
        removedBy: [
          {
            file: 'server/src/features/fleet/held-ports/index.ts',
            find: 'approved !== null && approved !== titleOf(found)',
            replace: "approved === '' && approved !== titleOf(found)",
          },
        ],
      },
    ],
  },
  freshOverride: {
    does: 'A known attack tool is allowed only with fresh authentication',
    test: {
      file: 'server/src/features/system/approvals/hidden-allows.test.ts',
      name: 'allowing a known attack tool needs a fresh session',
    },
    removedBy: [
      {
        file: 'server/src/features/devices/policy/changes.service.ts',
        find: 'if (write.some((r) => r.override_attack_tool)) assertFresh(actor, clock.now())',
        replace: '',
      },
    ],
  },
})
