// After the tests of a CI: asks the registry for known vulnerabilities in what runs in production, by the lockfile.
// A high or critical one fails the build; a registry that gives no answer does not.
import { spawnSync } from 'node:child_process'

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
})
const { auditReportVersion, vulnerabilities } = parsed(stdout)

if (auditReportVersion === undefined) {
  process.stderr.write('npm audit: the registry gives no answer; nothing was checked.\n')
  process.exit(0)
}
const found = Object.values(vulnerabilities).map(({ name, severity, range }) => ({ name, severity, range }))
const serious = found.filter(({ severity }) => ['high', 'critical'].includes(severity))
for (const { name, severity, range } of found) process.stderr.write(`npm audit: ${severity}: ${name} ${range}\n`)
process.stderr.write(`npm audit: ${found.length} known vulnerabilities, ${serious.length} of them serious.\n`)
process.exit(serious.length === 0 ? 0 : 1)

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
