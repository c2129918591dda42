export { loadKnowledge } from './knowledge.files.ts'
