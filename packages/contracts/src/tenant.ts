/** The customer to whom something belongs; null: the installation itself. Tenants never see each other's data. */
export type Tenant = string | null
