import type { Delivery, EventOutput, NotificationGroup } from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from './app.ts'

export const notificationsBase = '/prime/webui/systemNotification'

/** Starts a server that may send to this machine, with helpers for deliveries and their peers. */
export const startSender = async () => {
  const t: TestApp = await startTestApp({ outboundAllow: ['127.0.0.0/8'] })
  const peers: { close(): unknown }[] = []
  const get = async (path: string) => (await (await t.admin()).get(`${notificationsBase}/${path}`)).json()
  /** Runs the timers once. */
  const tick = async (): Promise<void> => {
    await t.alerts.run()
    await t.deliveries.deliver()
  }
  return {
    t,
    /** Registers a peer to close at the end. */
    opened: <T extends { close(): unknown }>(peer: T): T => {
      peers.push(peer)
      return peer
    },
    group: async (id: number, change: Record<string, unknown>): Promise<NotificationGroup> => {
      const answer = await (await t.admin()).post(`${notificationsBase}/notifications/update`, { id, ...change })
      if (answer.statusCode !== 200) throw new Error(answer.body)
      return answer.json().find((one: NotificationGroup) => one.id === id)
    },
    deliveries: async (query = ''): Promise<Delivery[]> => (await get(`deliveries${query}`)).data,
    outputs: (): Promise<EventOutput[]> => get('outputs'),
    tick,
    later: async (seconds: number): Promise<void> => {
      t.clock.advance(seconds * 1_000)
      await tick()
    },
    close: async (): Promise<void> => {
      for (const one of peers.reverse()) await one.close()
      await t.close()
    },
  }
}
