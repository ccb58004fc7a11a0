import { expect, it } from 'vitest';
import { SANDBOX, withTenant } from '../testing/cni-handler.ts';

it('tells who writes what the pod is attached to when all of it is there, and before DEL takes it away', async () => {
  const it = withTenant();
  await it.call('ADD', { pod: 'red/a' });
  expect(it.told).toEqual([`red/a has ${SANDBOX}`]);
  await it.call('DEL', { pod: 'red/a' });
  expect(it.told.slice(1)).toEqual([`${SANDBOX} goes`]);
});

it('tells nothing of an ADD that fails', async () => {
  const it = withTenant();
  it.ports.installs = false;
  const answer = it.call('ADD', { pod: 'red/a' });
  answer.catch(() => undefined);
  await expect.poll(() => it.ports.all().length).toBe(2);
  await it.clock.advance(50_000);
  await expect(answer).rejects.toMatchObject({ reason: 'notInstalled' });
  expect(it.told).toEqual([]);
});
