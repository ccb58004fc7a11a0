/** What a container runtime reads of a CNI result: the pod's addresses. */
import { z } from 'zod';
import { POD_INTERFACE } from './request.ts';

const result = z.object({
  interfaces: z.array(z.object({ name: z.string(), sandbox: z.string().default('') })).default([]),
  ips: z.array(z.object({ address: z.string(), interface: z.number().int().optional() })).default([]),
});

/**
 * The addresses, without prefix length, of the pod's first interface: those of other interfaces are not the pod's for
 * Kubernetes (containerd, `Result.Interfaces["eth0"]`).
 */
export const podAddresses = (value: unknown): string[] => {
  const { interfaces, ips } = result.parse(value);
  const isPods = (index: number | undefined): boolean => {
    const link = index === undefined ? undefined : interfaces[index];
    return link === undefined || (link.name === POD_INTERFACE && link.sandbox !== '');
  };
  return ips.filter((ip) => isPods(ip.interface)).map(({ address }) => address.split('/')[0] ?? address);
};
