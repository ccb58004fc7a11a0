/** An interface that plugins of another network have made, as an element of network-status: by the result of their ADD. Pure. */
import { type AttachedNetwork, nadNameOf } from '../../../api/annotations/attached-networks.ts';
import { addressOf, prefixLength } from '../../../net/cidr.ts';
import { addressesInPod, placeInPod } from '../foreign/default-route.ts';
import type { MadeAttachment } from '../foreign/foreign-attachments.ts';

/** `default` is for whoever knows all of the pod's interfaces. */
export const foreignNetwork = ({
  nadKey,
  interfaceName,
  result,
  defaultRoute,
  deviceInfo,
}: MadeAttachment): AttachedNetwork => {
  const { interfaces, routes, dns } = result;
  const { mac, mtu } = interfaces[placeInPod(result, interfaceName)] ?? {};
  const gateway = routes.flatMap(({ dst, gw }) => (gw !== undefined && prefixLength(dst) === 0 ? [gw] : []));
  return {
    ...{ name: nadNameOf(nadKey), interface: interfaceName },
    ips: addressesInPod(result, interfaceName).map(addressOf),
    ...{ mac, mtu, default: false, dns },
    ...(defaultRoute && { defaultRoute }),
    ...(gateway.length > 0 && { gateway }),
    ...(deviceInfo && { deviceInfo }),
  };
};
