import { startProgram } from '../../program.ts'
import { createMacos } from './macos.ts'

startProgram(process.env, createMacos())
