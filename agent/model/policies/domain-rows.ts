/** `k8s.ovn.org/owner-type` of the address sets of domain names; `k8s.ovn.org/name` is the name. */
export const DOMAIN_SET_TYPE = 'DomainName';
