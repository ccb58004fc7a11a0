import { describe, expect, it } from 'vitest';
import { differences, evaluate } from './evaluate.ts';
import { planProbes } from './plan.ts';
import {
  answerOf,
  type Behaviour,
  blueA,
  blueB,
  isolated,
  outcomesOf,
  PODS,
  plainA,
  plainB,
  redA,
  redB,
  SILENCE,
} from './testing.ts';
import type { Probe, Reachability, ReachabilityPod } from './types.ts';

const probes = planProbes(PODS, 'run');

const evaluated = (behaviour: Behaviour): Reachability[] => evaluate(PODS, probes, outcomesOf(probes, behaviour));

interface Case {
  readonly from: ReachabilityPod;
  readonly to: ReachabilityPod;
  readonly protocol?: Probe['protocol'];
  readonly role?: Probe['role'];
}

const isOf = (
  { from, to, protocol, role = 'primary' }: Case,
  probe: Pick<Probe, 'from' | 'to' | 'protocol' | 'role'>,
) =>
  probe.from === from.key &&
  probe.to === to.key &&
  probe.role === role &&
  (protocol === undefined || probe.protocol === protocol);

/** As if isolated, but for the probes of one pair. */
const except =
  (which: Case, behaviour: Behaviour): Behaviour =>
  (probe) =>
    isOf(which, probe) ? behaviour(probe) : isolated(probe);

const brief = ({ from, to, protocol, role, expected, observed, stray }: Reachability) => ({
  from,
  to,
  protocol,
  role,
  expected,
  observed,
  stray,
});

describe('evaluate, where tenants are isolated', () => {
  it('finds nothing else than expected', () => {
    const results = evaluated(isolated);
    expect(results).toHaveLength(probes.length);
    expect(differences(results)).toEqual([]);
    expect(results.filter(({ observed }) => observed)).toHaveLength(6 * 3);
  });

  it('takes no answer of the sender’s own network for a leak, where both tenants have the address', () => {
    const results = evaluated(isolated).filter((result) => isOf({ from: redA, to: blueB }, result));
    expect(results).toHaveLength(3);
    expect(results.filter(({ protocol }) => protocol !== 'icmp').map(({ who }) => who)).toEqual(['red-b', 'red-b']);
    expect(results.every(({ answered, observed, delivered }) => answered && !observed && !delivered)).toBe(true);
  });

  it('takes no answer of the sender itself for a leak: it may have the address, too', () => {
    const itself = evaluated(
      except({ from: redA, to: blueA }, (probe) => ({ seenBy: [redA], answer: answerOf(probe, redA) })),
    );
    expect(differences(itself)).toEqual([]);
  });
});

describe('evaluate, where isolation is broken', () => {
  const leak: Case = { from: redA, to: blueB };

  it.each(['icmp', 'tcp', 'udp'] as const)(
    '%s that arrives at the other tenant and is answered is a difference',
    (protocol) => {
      const which = { ...leak, protocol };
      const found = differences(
        evaluated(except(which, (probe) => ({ seenBy: [blueB], answer: answerOf(probe, blueB) }))),
      );
      expect(found.map(brief)).toEqual([
        { from: redA.key, to: blueB.key, protocol, role: 'primary', expected: false, observed: true, stray: false },
      ]);
    },
  );

  it.each(['icmp', 'tcp', 'udp'] as const)(
    '%s that arrives is a difference also when no answer comes back',
    (protocol) => {
      const found = differences(evaluated(except({ ...leak, protocol }, () => ({ seenBy: [blueB], answer: SILENCE }))));
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({
        from: redA.key,
        to: blueB.key,
        observed: true,
        delivered: true,
        answered: false,
      });
    },
  );

  it('is seen also when both pods with the address get the probe, and the right one answers first', () => {
    const found = differences(
      evaluated(
        except({ ...leak, protocol: 'udp' }, (probe) => ({ seenBy: [redB, blueB], answer: answerOf(probe, redB) })),
      ),
    );
    expect(found.map(({ to, observed, who }) => [to, observed, who])).toEqual([[blueB.key, true, 'red-b']]);
  });

  it('is seen at the locked interface of the default network, from tenants and from the default network', () => {
    for (const from of [redA, plainA, blueA]) {
      const which: Case = { from, to: redB, role: 'infrastructure-locked', protocol: 'icmp' };
      const found = differences(evaluated(except(which, () => ({ seenBy: [redB], answer: SILENCE }))));
      expect(found.map(({ from, to, role }) => [from, to, role])).toEqual([
        [which.from.key, redB.key, 'infrastructure-locked'],
      ]);
    }
  });

  it('is seen when a tenant reaches the default network', () => {
    const found = differences(
      evaluated(except({ from: redA, to: plainB, protocol: 'tcp' }, () => ({ seenBy: [plainB], answer: SILENCE }))),
    );
    expect(found).toHaveLength(1);
  });

  it('is seen where a third pod gets what was meant for another: a row of its own', () => {
    const results = evaluated(
      except({ from: redA, to: redB, protocol: 'udp' }, (probe) => ({
        seenBy: [redB, plainB],
        answer: answerOf(probe, redB),
      })),
    );
    expect(differences(results).map(brief)).toEqual([
      {
        from: redA.key,
        to: plainB.key,
        protocol: 'udp',
        role: 'primary',
        expected: false,
        observed: true,
        stray: true,
      },
    ]);
    expect(differences(results)[0]).toMatchObject({ network: { from: 'red_red', to: 'default' }, delivered: true });
  });

  it('is seen on every pair when nothing separates the networks', () => {
    const flat: Behaviour = (probe) => {
      const owners = PODS.filter(({ attachments }) =>
        attachments.some(({ addresses }) => addresses.includes(probe.address)),
      );
      const owner = owners.find(({ key }) => key === probe.to) ?? owners[0]!;
      return { seenBy: [owner], answer: answerOf(probe, owner) };
    };
    const results = evaluated(flat);
    expect(differences(results)).toHaveLength(results.filter(({ expected }) => !expected).length);
  });
});

describe('evaluate, where something does not work', () => {
  it.each(['icmp', 'tcp', 'udp'] as const)('%s without an answer is a difference', (protocol) => {
    const found = differences(
      evaluated(except({ from: redA, to: redB, protocol }, () => ({ seenBy: [], answer: SILENCE }))),
    );
    expect(found.map(brief)).toEqual([
      { from: redA.key, to: redB.key, protocol, role: 'primary', expected: true, observed: false, stray: false },
    ]);
  });

  it('a request that arrives and whose answer does not is a difference', () => {
    const found = differences(
      evaluated(except({ from: redA, to: redB, protocol: 'udp' }, () => ({ seenBy: [redB], answer: SILENCE }))),
    );
    expect(found[0]).toMatchObject({ expected: true, observed: false, delivered: true });
  });

  it.each(['tcp', 'udp'] as const)(
    '%s that another pod answers is a difference, and the stray one is named',
    (protocol) => {
      const results = evaluated(
        except({ from: redA, to: redB, protocol }, (probe) => ({ seenBy: [blueB], answer: answerOf(probe, blueB) })),
      );
      expect(
        differences(results).map(({ to, expected, observed, who, stray }) => [to, expected, observed, who, stray]),
      ).toEqual([
        [redB.key, true, false, 'blue-b', false],
        [blueB.key, false, true, 'blue-b', true],
      ]);
    },
  );

  it('an ICMP answer counts only when the pod that was meant saw the request', () => {
    const found = differences(
      evaluated(
        except({ from: redA, to: redB, protocol: 'icmp' }, (probe) => ({ seenBy: [], answer: answerOf(probe, redB) })),
      ),
    );
    expect(found[0]).toMatchObject({ expected: true, observed: false, answered: true, delivered: false });
  });

  it('a sender that reports nothing is a difference for all that it should reach', () => {
    const { answers, seen } = outcomesOf(probes, isolated);
    const silent = new Map(
      [...answers].filter(([nonce]) => probes.find((probe) => probe.nonce === nonce)?.from !== redA.key),
    );
    const found = differences(evaluate(PODS, probes, { answers: silent, seen }));
    expect(found.map(({ from, to, error }) => [from, to, error])).toEqual(
      Array.from({ length: 3 }, () => [redA.key, redB.key, 'the sender reported nothing']),
    );
  });

  it('a pod that was not asked what it saw is no proof that nothing arrived, but answers still count', () => {
    const { answers } = outcomesOf(
      probes,
      except({ from: redA, to: blueB, protocol: 'tcp' }, (probe) => ({
        seenBy: [blueB],
        answer: answerOf(probe, blueB),
      })),
    );
    const found = differences(evaluate(PODS, probes, { answers, seen: new Map() })).filter(
      ({ protocol }) => protocol === 'tcp',
    );
    expect(found.map(({ from, to, observed }) => [from, to, observed])).toEqual([[redA.key, blueB.key, true]]);
  });
});
