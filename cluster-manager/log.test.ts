import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { KubeError } from '../kube/errors.ts';
import { ENDPOINT_SLICES } from '../kube/resources.ts';
import type { ManagerObservation } from './controllers/manager.ts';
import { createObservationLog } from './log.ts';

const linesOf = (observation: ManagerObservation) => {
  const lines: { level: number; resource: string; msg: string }[] = [];
  const log = createObservationLog(pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
  log(observation);
  return lines.map(({ level, resource, msg }) => ({ level, resource, msg }));
};

it('says what to do where something may not be read, or is not served', () => {
  const error = new KubeError('ERR_KUBE_STATUS', 'forbidden', { status: 403 });
  const resource = 'ipamclaims';
  expect(
    linesOf({ source: 'mirror', about: { kind: 'failed', phase: 'list', error, retryInMs: 500, resource } }),
  ).toEqual([{ level: 50, resource, msg: expect.stringContaining('apply daemonset/cluster-manager-rbac.yaml') }]);
  expect(linesOf({ source: 'mirror', about: { kind: 'absent', resource } })).toEqual([
    { level: 40, resource, msg: expect.stringContaining('apply daemonset/crds/') },
  ]);
});

describe('a write that failed', () => {
  const levelsOf = (status: number, reason: string) => {
    const error = new KubeError('ERR_KUBE_STATUS', 'refused', { status, causes: [{ reason }] });
    const about = { kind: 'failed', resource: ENDPOINT_SLICES, key: 'red/web', error } as const;
    return linesOf({ source: 'writer', about }).map(({ level }) => level);
  };

  it('is an error', () => {
    expect(levelsOf(403, 'FieldValueForbidden')).toEqual([50]);
  });

  it.each([
    ['in a namespace that is being deleted', 403, 'NamespaceTerminating'],
    ['of what is gone', 404, 'NotFound'],
  ])('%s is none', (_, status, reason) => {
    expect(levelsOf(status, reason)).toEqual([]);
  });
});
