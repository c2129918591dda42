/** Returns a number of hosts in words. */
export const hostsText = (n: number): string => `${n} ${n === 1 ? 'host' : 'hosts'}`
