import { afterEach, describe, expect, it } from 'vitest';
import { NetlinkError, PodInterfaceError } from '../errors.ts';
import { type NetlinkWorker, startNetlink } from './client.ts';
import { fromWireError, toWireError } from './wire-error.ts';

describe('errors between threads', () => {
  const refused = new NetlinkError('EEXIST', 'add link: EEXIST', { errno: 17, extAck: 'there already' });

  it.each<[string, Error]>([
    ['a refusal', refused],
    ['a setup error', new PodInterfaceError('ERR_POD_INTERFACE_SETUP', 'no', refused)],
    ['an error of a pod', new PodInterfaceError('ERR_POD_NETNS', 'gone')],
  ])('%s stays what it is', (_, error) => {
    const back = fromWireError(structuredClone(toWireError(error)));
    expect(back).toBeInstanceOf(error.constructor);
    expect({ ...back, message: back.message, cause: back.cause }).toEqual({
      ...error,
      message: error.message,
      cause: error.cause,
    });
  });

  it('keep message and stack of what is not expected', () => {
    const bug = new TypeError('x is not a function');
    expect(fromWireError(structuredClone(toWireError(bug)))).toMatchObject({ message: bug.message, stack: bug.stack });
    expect(fromWireError(structuredClone(toWireError('thrown text'))).message).toBe('thrown text');
  });
});

/** The worker answers without a kernel as long as it has no addon. */
describe('the worker thread', () => {
  let netlink: NetlinkWorker;
  let now = 1000;
  const start = () => {
    netlink = startNetlink({ addonPath: '/does/not/exist.node', now: () => now });
    return netlink;
  };
  afterEach(() => netlink.close());

  it('says what is wrong with the addon, to every caller', async () => {
    start();
    const wrong = { code: 'ERR_NETLINK_ADDON', message: expect.stringContaining('make build') };
    await expect(netlink.read({ links: true })).rejects.toMatchObject(wrong);
    await expect(netlink.pods.list()).rejects.toMatchObject(wrong);
  });

  it('shows how long the oldest call waits', async () => {
    start();
    expect(netlink.oldestCallAge()).toBeUndefined();
    const first = netlink.read({});
    now += 40;
    const second = netlink.read({});
    now += 2;
    expect(netlink.oldestCallAge()).toBe(42);
    await Promise.allSettled([first, second]);
    expect(netlink.oldestCallAge()).toBeUndefined();
  });

  it('lets callers go without forgetting their calls', async () => {
    start();
    const abort = new AbortController();
    const call = netlink.read({}, abort.signal);
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(netlink.oldestCallAge()).toBeDefined();
    await expect(netlink.read({}, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    await expect(netlink.read({})).rejects.toMatchObject({ code: 'ERR_NETLINK_ADDON' });
    expect(netlink.oldestCallAge()).toBeUndefined();
  });

  it('collects its garbage, also when it is about to end, and answers on', async () => {
    start();
    await netlink.collectGarbage();
    await expect(netlink.read({})).rejects.toMatchObject({ code: 'ERR_NETLINK_ADDON' });
    const last = netlink.collectGarbage();
    const closed = netlink.close();
    await last;
    await closed;
    await expect(netlink.collectGarbage()).rejects.toMatchObject({ code: 'ERR_NETLINK_WORKER' });
  });

  it('answers what is under way before it ends, and then nothing', async () => {
    start();
    const call = netlink.read({});
    const closed = netlink.close();
    await expect(call).rejects.toMatchObject({ code: 'ERR_NETLINK_ADDON' });
    await closed;
    expect(await netlink.whenEnded()).toMatchObject({ code: 'ERR_NETLINK_WORKER' });
    await expect(netlink.read({})).rejects.toMatchObject({ code: 'ERR_NETLINK_WORKER' });
    await netlink.close();
  });
});
