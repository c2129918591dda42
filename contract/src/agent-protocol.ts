export * from '@portcullis/features/agents/contract/agent-protocol.ts'
