export * from './syslog-address.ts'
export * from './syslog-error.ts'
export * from './syslog-sender.ts'
