package policies

// outputs learns how long outputs are, tenant by tenant. What it says of a tenant depends only on that tenant's requests.
type outputs struct {
	few  []*quantile      // of the tenants below manyTenants, since a map takes longer
	many map[ID]*quantile // of the others, for lookup only
}

const manyTenants = 1 << 10

// p75 is the output that three quarters of the tenant's recent requests did not exceed, 0 if there was none.
func (o *outputs) p75(tenant ID) int32 {
	if q := o.of(tenant); q != nil {
		return q.value()
	}
	return 0
}

// of returns what is known of a tenant, nil if nothing is.
func (o *outputs) of(tenant ID) *quantile {
	if uint(tenant) < uint(len(o.few)) {
		return o.few[tenant]
	}
	return o.many[tenant]
}

func (o *outputs) add(tenant ID, tokens int32) {
	q := o.of(tenant)
	if q == nil {
		q = o.meet(tenant)
	}
	q.add(tokens)
}

// age lets old outputs of a tenant fade.
func (o *outputs) age(tenant ID) {
	if q := o.of(tenant); q != nil {
		q.age()
	}
}

// meet makes room for a tenant.
func (o *outputs) meet(tenant ID) *quantile {
	q := &quantile{}
	if tenant < 0 || tenant >= manyTenants {
		if o.many == nil {
			o.many = map[ID]*quantile{}
		}
		o.many[tenant] = q
		return q
	}
	for int(tenant) >= len(o.few) {
		o.few = append(o.few, nil)
	}
	o.few[tenant] = q
	return q
}

// expected is the output to expect of a request, in tokens: what the caller expects, else all that it allows, else what
// its tenant's requests have had.
func (s *Score) expected(r *Request) int32 {
	if n := output(r); n > 0 || s.outputs == nil {
		return n
	}
	return s.outputs.p75(r.Tenant)
}
