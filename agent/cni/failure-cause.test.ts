import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CNI_ERROR_CODES, CniError, type CniErrorReason } from '../../api/cni/error.ts';
import { kernelError, netlinkFault } from '../../datapath/netlink/errors.ts';
import { NotConnectedError, operationError } from '../../ovsdb/errors.ts';
import { callFailure } from './call-failure.ts';
import { CNI_FAILURE_CAUSES, failureCause } from './failure-cause.ts';
import { BridgeMissingError } from './vswitch-ports.ts';

const ioError = operationError({
  error: 'I/O error',
  details: '/etc/openvswitch/conf.db: write failed (No space left on device)',
  index: undefined,
  operation: undefined,
  suspects: [],
});

/** As `structuredClone` hands an error over from a worker: without its class. */
const fromWorker = (code: string): Error => Object.assign(new Error('from the worker'), { code });

describe('a call that failed', () => {
  it.each([
    ['the database of Open vSwitch', ioError, 'ovsdb'],
    ['no connection to it', new NotConnectedError('gone'), 'ovsdb'],
    ['no br-int', new BridgeMissingError('there is no bridge'), 'ovsdb'],
    ['the kernel', kernelError('add link', 12), 'kernel'],
    ['netlink', netlinkFault('ERR_NETLINK_NO_ANSWER', 'no answer'), 'kernel'],
    ['the worker thread', fromWorker('ERR_POD_INTERFACE_SETUP'), 'kernel'],
    ['nft', fromWorker('ERR_NFT_KERNEL'), 'nftables'],
    ['ovn-controller', new CniError('notInstalled', 'late'), 'ovn'],
    ['no address', new CniError('networkNotReady', 'no addresses'), 'waiting-for-network'],
    ['what it comes from', new Error('outer', { cause: ioError }), 'ovsdb'],
    ['the first of several', new AggregateError([kernelError('add link', 12), ioError], 'both'), 'kernel'],
    ['what is unknown', new TypeError('x is not a function'), 'internal'],
    ['no error at all', 'text', 'internal'],
  ])('by %s', (_, error, cause) => expect(failureCause(error)).toBe(cause));

  it('has one of the causes for every code of CNI', () => {
    const reasons = Object.keys(CNI_ERROR_CODES) as CniErrorReason[];
    const causes = reasons.map((reason) => failureCause(new CniError(reason, 'x')));
    expect(CNI_FAILURE_CAUSES).toEqual(expect.arrayContaining(causes));
  });

  it('is logged with what the database said, and with the pod', () => {
    const env = {
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: 'c1',
      CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=red;K8S_POD_NAME=a',
    };
    expect(callFailure(env, ioError)).toEqual({
      ...{ command: 'ADD', pod: 'red/a', sandbox: 'c1', cause: 'ovsdb', details: undefined },
      message: 'commit: I/O error: /etc/openvswitch/conf.db: write failed (No space left on device)',
    });
  });

  it('has few labels, whatever is sent and thrown', () =>
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.anything(), (command, args, thrown) => {
        const failure = callFailure({ CNI_COMMAND: command, CNI_ARGS: args }, thrown);
        expect(['ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION', 'unknown']).toContain(failure.command);
        expect(CNI_FAILURE_CAUSES).toContain(failure.cause);
      }),
    ));
});
