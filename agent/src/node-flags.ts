/**
 * Flags of Node for the agent. The executable contains them, and tests pass them to the agent.
 *
 * The agent works for a few milliseconds per minute. Compiling its functions to machine code would save little time and
 * take 4 MB: the code of the compilers, their results and the data that they collect.
 */
export const nodeFlags = ['--no-opt', '--no-maglev', '--no-sparkplug', '--optimize-for-size']
