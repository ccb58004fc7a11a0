import { describe, expect, it } from 'vitest';
import { withPod, withTenant } from '../testing/cni-handler.ts';

describe('ADD while host isolation is not in the kernel', () => {
  const LACKING = 'element udn-pod-default-ips-v4 10.128.0.4: not programmed yet';

  it('plugs no port of a pod with a primary network before it is, and is timed', async () => {
    const it = withTenant();
    it.isolation.lacking = LACKING;
    let isAnswered = false;
    const answer = it.call('ADD', { pod: 'red/a' }).finally(() => {
      isAnswered = true;
    });
    await expect.poll(() => it.observations.some(({ phase }) => phase === 'interfaces')).toBe(true);
    expect([isAnswered, it.isolation.waiting, it.ports.all()]).toEqual([false, 1, []]);
    it.isolation.lacking = undefined;
    expect(JSON.parse(await answer).ips).toHaveLength(2);
    expect(it.observations).toContainEqual(expect.objectContaining({ phase: 'host-isolation', failed: false }));
    expect(it.clock.pending).toBe(0);
  });

  it('reports what is lacking when it does not come, also to the pod, and takes back what was made', async () => {
    const it = withTenant();
    it.isolation.lacking = LACKING;
    const answer = it.call('ADD', { pod: 'red/a' });
    answer.catch(() => undefined);
    await expect.poll(() => it.isolation.waiting).toBe(1);
    await expect.poll(async () => (await it.netlink.pods.list()).length).toBe(2);
    await it.clock.advance(50_000);
    const message = `host isolation of pod red/a was not programmed in nftables within 50 s: ${LACKING}`;
    await expect(answer).rejects.toMatchObject({ reason: 'tryAgainLater', message });
    expect(it.failures).toEqual([`red/a: ${message}`]);
    expect([it.ports.all(), await it.netlink.pods.list(), it.isolation.waiting]).toEqual([[], [], 0]);
  });

  it('fails at once for another reason', async () => {
    const it = withTenant();
    it.isolation.lacking = LACKING;
    await expect(it.call('ADD', { pod: 'red/a', netns: '/run/netns/none' })).rejects.toThrow('/run/netns/none');
    expect(it.isolation.waiting).toBe(0);
  });

  it('does not wait for a pod of the default network', async () => {
    const it = withPod();
    it.isolation.lacking = LACKING;
    expect(JSON.parse(await it.call('ADD')).ips).toHaveLength(1);
  });
});
