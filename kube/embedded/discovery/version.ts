import type { JsonRecord } from '../../is-record.ts';

/** `/version`: the release whose behaviour this server follows. */
export const versionInfo = (): JsonRecord => ({
  major: '1',
  minor: '33',
  gitVersion: 'v1.33.0+embedded',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch}`,
});
