/**
 * What the packets showed. Pure. This file decides what counts as "observed":
 *
 * - A probe that is expected to arrive: it was answered, and by the very pod that was meant. TCP and UDP answers carry the
 *   name of who answered; for ICMP the pod's server must have seen the nonce.
 * - A probe that must not arrive: the pod that was meant saw it, whether or not an answer found its way back, or answered.
 *   An answer of another pod is none of it: where tenants use the same addresses, a pod of the sender's own network may
 *   rightly have this one.
 * - A probe that a third pod saw which the sender must not reach, and which nobody asked about: a row of its own (`stray`).
 *
 * Of TCP the server sees a request, not the packets of the handshake: that a packet gets through in one direction only is
 * seen by the ICMP and UDP probes of the same pair.
 */
import { mayReach } from './expectation.ts';
import type { Answer, Outcomes, Probe, Reachability, ReachabilityPod } from './types.ts';

/** One item per probe, in their order, then the strays. */
export const evaluate = (
  pods: readonly ReachabilityPod[],
  probes: readonly Probe[],
  outcomes: Outcomes,
): Reachability[] => {
  const byKey = new Map(pods.map((pod) => [pod.key, pod]));
  const evaluated = probes.map((probe) => evaluateProbe(probe, byKey.get(probe.to)?.hostname, outcomes));
  return [...evaluated, ...findStrays(pods, probes, outcomes)];
};

/** Those where something else was observed than expected. */
export const differences = (results: readonly Reachability[]): Reachability[] =>
  results.filter(({ expected, observed }) => expected !== observed);

const evaluateProbe = (probe: Probe, hostname: string | undefined, outcomes: Outcomes): Reachability => {
  const answer = outcomes.answers.get(probe.nonce) ?? LOST;
  const delivered = outcomes.seen.get(probe.to)?.has(probe.nonce) ?? false;
  const answeredByIt = answer.answered && (probe.protocol === 'icmp' ? delivered : answer.who === hostname);
  const observed = probe.expected ? answeredByIt : delivered || answeredByIt;
  return item(probe, { observed, delivered, answer, stray: false });
};

/** The sender ended before it said anything about this probe. */
const LOST: Answer = { answered: false, who: undefined, error: 'the sender reported nothing', tries: 0 };

/** @returns one item per probe and pod that saw it and should not have */
const findStrays = (
  pods: readonly ReachabilityPod[],
  probes: readonly Probe[],
  { answers, seen }: Outcomes,
): Reachability[] => {
  const byKey = new Map(pods.map((pod) => [pod.key, pod]));
  return probes.flatMap((probe) => {
    const from = byKey.get(probe.from);
    return pods
      .filter((pod) => pod.key !== probe.to && pod.key !== probe.from && seen.get(pod.key)?.has(probe.nonce) === true)
      .filter((pod) => from === undefined || !hasItsOwn(probe, from, pod))
      .map((pod) => {
        const answer = answers.get(probe.nonce) ?? LOST;
        const network = { from: probe.network.from, to: pod.attachments[0]?.network ?? '' };
        const stray = { ...probe, to: pod.key, network, expected: false };
        return item(stray, { observed: true, delivered: true, answer, stray: true });
      });
  });
};

/** The pod has the probe's address on a network that it shares with the sender. */
const hasItsOwn = ({ address }: Probe, from: ReachabilityPod, pod: ReachabilityPod): boolean =>
  pod.attachments.some((own) => own.addresses.includes(address) && mayReach(from, own));

interface Result {
  readonly observed: boolean;
  readonly delivered: boolean;
  readonly answer: Answer;
  readonly stray: boolean;
}

const item = ({ nonce: _, ...probe }: Probe, { observed, delivered, answer, stray }: Result): Reachability => ({
  ...probe,
  observed,
  delivered,
  answered: answer.answered,
  who: answer.who ?? null,
  error: answer.error ?? null,
  tries: answer.tries,
  stray,
});
