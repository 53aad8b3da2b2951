import { ConfigError, type Environment, readConfig } from '../../src/config.ts'

/** What is wrong with the settings, in the words of the start. */
export function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
