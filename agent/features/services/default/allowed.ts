/** The Services of the default network that pods of every network reach, and their ClusterIPs. */
import { cidrContainsIp } from '../../../../net/cidr.ts';
import type { Ip } from '../../../../net/ip.ts';
import type { View } from '../../../model/view.ts';

export interface AllowedService {
  /** `namespace/name` */
  readonly key: string;
  readonly clusterIps: readonly Ip[];
  /** Of no service subnet of the settings: nothing has a route there. */
  readonly strangeIps: readonly Ip[];
}

/** Of the few names that the settings have, those that are Services of the default network at this moment. */
export const allowedServices = (view: View): readonly AllowedService[] =>
  view.allowedDefaultServices.flatMap((key) => {
    const service = view.service(key);
    if (service === undefined || view.namespace(service.namespace)?.wantsPrimaryNetwork !== false) return [];
    const isKnown = (ip: Ip): boolean => view.cluster.serviceSubnets.some((subnet) => cidrContainsIp(subnet, ip));
    const { clusterIps } = service;
    return [{ key, clusterIps: clusterIps.filter(isKnown), strangeIps: clusterIps.filter((ip) => !isKnown(ip)) }];
  });
