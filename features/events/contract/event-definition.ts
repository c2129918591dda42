export const eventCategories = ['USB', 'Agent', 'Agentless', 'System', 'Network'] as const
export type EventCategory = (typeof eventCategories)[number]

/** The explanation of an event or an alert. The text is plain English without markup other than `code`. */
export interface Guidance {
  /** What happened. */
  readonly meaning: string
  /** Why it happens. */
  readonly cause: string
  /** What a person should do. */
  readonly cure: string
  /** Page of docs/guide with the details, with its anchor. */
  readonly guide?: string
}

/** Classes of the Open Cybersecurity Schema Framework by number. The thousands digit is the category. */
export const ocsfClasses = {
  0: 'Base Event',
  1010: 'Peripheral Activity',
  2004: 'Detection Finding',
  3004: 'Entity Management',
  5001: 'Device Inventory Info',
  5019: 'Device Config State Change',
  6002: 'Application Lifecycle',
  6008: 'Application Error',
  7001: 'Remediation Activity',
} as const

/** The OCSF class and activity of an event. */
export interface OcsfActivity {
  class: keyof typeof ocsfClasses
  activity: number
  activityName: string
  /** Status of the activity, for classes with a status. */
  status?: readonly [id: number, name: string]
  /** Device Config State Change: current protection of the host. */
  state?: readonly [id: number, name: string]
  /** Security Control: action that was taken. */
  control?: { action: readonly [id: number, name: string]; disposition: readonly [id: number, name: string] }
}

/** Next steps that the console can offer for an alert. */
export const alertSteps = {
  approve: 'Approve…',
  deny: 'Deny…',
  accept: 'Accept finding…',
  devices: 'Review devices',
  hosts: 'Show hosts',
  events: 'Show events',
  list: 'Open list',
  health: 'Show remedies',
} as const
export type AlertStep = keyof typeof alertSteps

/** An alert that an event raises, aggregated by its subject. */
export interface AlertDefinition {
  /** Name of the kind in the interface. Absent: the name of the event. */
  readonly kind?: string
  readonly title: string
  /** What happened, for the person who handles the alert. */
  readonly meaning: string
  /** The notification group that sends it. */
  readonly group: 'Attacks' | 'Devices' | 'Disconnected hosts' | 'Accounts and tokens'
  /** Position in lists of kinds. */
  readonly order: number
  /** Position in the switches of the group, if it was added after the others. */
  readonly switchOrder?: number
  /** One alert covers the events of a model on any number of hosts, of a host, or of an account or its token. */
  readonly subject: 'model' | 'host' | 'account'
  /** Returns the title with the name or number of the hosts. Absent: the hosts follow the title. */
  readonly headline?: (hosts: string) => string
  /** Name of a flood, after "Many". */
  readonly many?: string
  /**
   * True: one change of the policy or the knowledge raises it for many models at once, so floods begin at higher limits.
   * Absent for devices that are not on the allowlist: with the higher limits, arming 21 hosts raised 56 alerts.
   */
  readonly isBroad?: true
  /** True: each new host is news, because somebody must go there. */
  readonly spreads?: true
  /** Console page of the subject, for accounts. */
  readonly page?: string
  /** Next steps, the most useful first. */
  readonly steps: readonly AlertStep[]
}

/** The event categories by the prefix of their codes. */
const categories = { '0x11': 'USB', '0x12': 'Agent', '0x13': 'System', '0x14': 'Agentless', '0x15': 'Network' } as const
type EventCode = `${keyof typeof categories}${string}`
type CategoryOf<C extends EventCode> = {
  [P in keyof typeof categories]: C extends `${P}${string}` ? (typeof categories)[P] : never
}[keyof typeof categories]

interface EventTexts extends Omit<Guidance, 'cure'> {
  /** Absent: no action is needed. */
  readonly cure?: string
}

/** The OCSF activity of events without a class. It is named after the event. */
export const base = { class: 0, activity: 99 } as const

/** Defines an event. `severity` is a syslog severity; connectors match on `code` and `name`. */
export const event = <const C extends EventCode, const A extends AlertDefinition | undefined = undefined>(
  code: C,
  severity: number,
  name: string,
  ocsf: OcsfActivity | typeof base,
  { alert, ...texts }: EventTexts & { readonly alert?: A },
) => ({
  code,
  severity,
  name,
  category: categories[code.slice(0, 4) as keyof typeof categories] as CategoryOf<C>,
  ocsf: { activityName: name, ...ocsf } as OcsfActivity,
  guidance: { cure: 'No action is needed.', ...texts } as Guidance,
  alert: alert as A,
})
export type EventDefinition = ReturnType<typeof event<EventCode, AlertDefinition | undefined>>
