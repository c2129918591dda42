/** Entry of the agent for Windows: as a service, as a program in a console, or for the installer. */
import { startWindows } from './start.ts'

startWindows(process.env)
