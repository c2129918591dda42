/** Returns the address of a host's page. */
export const agentAddress = (uuid: string): string => `/agents/${encodeURIComponent(uuid)}`

/** Returns the address of a device's page. The id of a device contains dots and backslashes, so it is in the query. */
export const deviceAddress = (uuid: string, deviceId: string): string =>
  `/peripherals/${encodeURIComponent(uuid)}?device=${encodeURIComponent(deviceId)}`

/** Returns the address of a model's page. */
export const modelAddress = ({ vid, pid }: { vid: string; pid: string }): string => `/peripherals/models/${vid}:${pid}`

/** Returns the address of an event's page. */
export const eventAddress = (eventId: number | string): string => `/events/${encodeURIComponent(String(eventId))}`

/** Returns the address of the list of hosts with an attached device of a model. */
export const modelHostsAddress = ({ vid, pid }: { vid: string; pid: string }): string => `/agents?Model=${vid}:${pid}`
