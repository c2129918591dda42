import {
  hub,
  plainKeyboard,
  rubberDucky,
  storageStick,
  unifyingReceiver1207,
  webcam,
  yubiKey,
} from '@portcullis/domain/testing'
import { expect } from 'vitest'
import type { TestApp } from './app.ts'
import { enrolAgent } from './builders.ts'

export const hostNames = [
  'Web-1',
  'web-10',
  'WEB_2',
  'db%1',
  'ÄPFEL',
  'äpfel-2',
  'straße',
  'İzmir',
  '日本-7',
  "o'hara",
  'a\\b',
  'z',
]
const systems = ['Debian GNU/Linux 12 (bookworm)', 'Ubuntu 24.04', 'Fedora_41 100%']
const makes = [plainKeyboard, rubberDucky, storageStick, unifyingReceiver1207, webcam, yubiKey, hub]
const tagNames = ['Lab', 'kiosk', 'ÄRZTE']

/** Enrols 30 hosts that differ in name, system, devices, tags, connection, mode and grade. */
export const seedHosts = async (t: TestApp): Promise<void> => {
  const admin = await t.admin()
  const made = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      enrolAgent(t, {
        facts: {
          hostname: `${hostNames[i % hostNames.length]}${i >= hostNames.length ? `-${i}` : ''}`,
          address: `10.${i % 3}.0.${i}`,
          osName: systems[i % systems.length] as string,
          agentVersion: `1.${i % 4}.0`,
          model: i % 5 === 0 ? 'Kiosk 3000' : 'T14',
          enforcement: i % 3 === 1 ? 'observe' : 'before-driver',
        },
        devices: makes.slice(i % 4, (i % 4) + (i % 6)).map((make, k) => make({ portPath: `1-${k + 1}` })),
      }),
    ),
  )
  for (const [i, agent] of made.entries()) if (i % 4 === 1) await agent.unplug('1-1')
  for (const [k, name] of tagNames.entries()) {
    const elementIds = made.filter((_, i) => i % (k + 2) === 0).map((agent) => agent.agentId)
    const answer = await admin.post('/prime/webui/generalconfig/addhashtags', {
      hashtags: [name],
      elementIds,
      entityType: 'Agent',
    })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  for (const [i, agent] of made.entries())
    if (i % 6 === 2) await agent.checkIn({ enforcement: { mode: 'Armed', policyVersion: 0, reason: '' } })
  const rule = { effect: 'allow', kinds: ['Hub'], reason: 'hubs', host: made[2]?.agentId }
  const ruled = await admin.post('/prime/webui/policy/rules', rule)
  expect(ruled.statusCode, ruled.body).toBe(200)
  t.clock.advance(181_000)
  for (const [i, agent] of made.entries()) if (i % 3 !== 0) await agent.checkIn()
  await t.server.ingest.sweep()
  t.clock.advance(5_000)
}

/** Folds case as databases do, character by character: the dotted capital I becomes i, and sigma has one small form. */
export const fold = (text: string): string =>
  [...text.normalize('NFC')].map((c) => (c === 'İ' ? 'i' : c.toLowerCase())).join('')
