/**
 * `kubernetes.io/ingress-bandwidth` and `kubernetes.io/egress-bandwidth` of a Pod: limits of its primary interface, in bits per
 * second, as quantities.
 * https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins/#support-traffic-shaping
 */
import { POD_ANNOTATIONS } from '../names.ts';
import { parseWith } from '../parse.ts';
import { quantityBetween } from '../quantity.ts';
import { annotationOf } from './annotation-of.ts';
import type { Bandwidth } from './selection-element.ts';

/**
 * Without bursts, which these annotations cannot say.
 * @param pod `namespace/name`
 * @returns undefined where neither is set
 * @throws ApiError that names the annotation; then neither has an effect
 */
export const parsePodBandwidth = (
  annotations: Readonly<Record<string, string>>,
  pod: string,
): Bandwidth | undefined => {
  const ingressRate = rateOf(annotations, POD_ANNOTATIONS.ingressBandwidth, pod);
  const egressRate = rateOf(annotations, POD_ANNOTATIONS.egressBandwidth, pod);
  if (ingressRate === undefined && egressRate === undefined) return undefined;
  return { ...(ingressRate !== undefined && { ingressRate }), ...(egressRate !== undefined && { egressRate }) };
};

const rateOf = (annotations: Readonly<Record<string, string>>, name: string, pod: string): number | undefined => {
  const text = annotations[name];
  return text === undefined ? undefined : parseWith(RATE, text, annotationOf('Pod', name, pod));
};

/** The limits that the kubelet has (pkg/util/bandwidth). */
const RATE = quantityBetween('1k', '1P', 'bits per second');
