import { startProgram } from '../../program.ts'
import { macos } from './macos.ts'

startProgram(process.env, macos)
