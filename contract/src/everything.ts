export * from '@portcullis/features/contract.ts'
