import { startProgram } from './program.ts'

startProgram(process.env)
