export * from './agent-protocol.ts'
export * from './errors.ts'
export * from './operation.ts'
export * from './permissions.ts'
