export * from './retry.ts'
export * from './send-webhook.ts'
export * from './webhook-error.ts'
export * from './webhook-secret.ts'
