import { linux } from './platform/linux/linux.ts'
import { startProgram } from './program.ts'

startProgram(process.env, linux)
