/** Address of a host's page. */
export const agentAddress = (uuid: string): string => `/agents/${encodeURIComponent(uuid)}`

/** Address of a device's page. The id of a device has dots and backslashes, so it is no part of the path. */
export const deviceAddress = (uuid: string, deviceId: string): string =>
  `/peripherals/${encodeURIComponent(uuid)}?device=${encodeURIComponent(deviceId)}`

/** Address of an event's page. */
export const eventAddress = (eventId: number | string): string => `/events/${encodeURIComponent(String(eventId))}`

/** Returns the address of the list of hosts with an attached device of a model. */
export const modelHostsAddress = ({ vid, pid }: { vid: string; pid: string }): string => `/agents?Model=${vid}:${pid}`
