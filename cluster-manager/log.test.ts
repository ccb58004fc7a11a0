import { pino } from 'pino';
import { expect, it } from 'vitest';
import { KubeError } from '../kube/errors.ts';
import type { ManagerObservation } from './controllers/manager.ts';
import { createObservationLog } from './log.ts';

const linesOf = (about: Extract<ManagerObservation, { source: 'mirror' }>['about']) => {
  const lines: { level: number; resource: string; msg: string }[] = [];
  const log = createObservationLog(pino({}, { write: (line) => lines.push(JSON.parse(line)) }));
  log({ source: 'mirror', about });
  return lines.map(({ level, resource, msg }) => ({ level, resource, msg }));
};

it('says what to do where something may not be read, or is not served', () => {
  const error = new KubeError('ERR_KUBE_STATUS', 'forbidden', { status: 403 });
  const resource = 'ipamclaims';
  expect(linesOf({ kind: 'failed', phase: 'list', error, retryInMs: 500, resource })).toEqual([
    { level: 50, resource, msg: expect.stringContaining('apply daemonset/cluster-manager-rbac.yaml') },
  ]);
  expect(linesOf({ kind: 'absent', resource })).toEqual([
    { level: 40, resource, msg: expect.stringContaining('apply daemonset/crds/') },
  ]);
});
