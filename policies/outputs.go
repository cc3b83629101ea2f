package policies

// outputs learns how long outputs are, tenant by tenant. What it says of a tenant depends only on that tenant's requests.
type outputs struct {
	tenants map[ID]*quantile // for lookup only
}

// p75 is the output that three quarters of the tenant's recent requests did not exceed, 0 if there was none.
func (o *outputs) p75(tenant ID) int32 {
	if q := o.tenants[tenant]; q != nil {
		return q.value()
	}
	return 0
}

func (o *outputs) add(tenant ID, tokens int32) {
	q := o.tenants[tenant]
	if q == nil {
		if o.tenants == nil {
			o.tenants = map[ID]*quantile{}
		}
		q = &quantile{}
		o.tenants[tenant] = q
	}
	q.add(tokens)
}

// expected is the output to expect of a request, in tokens: what the caller expects, else all that it allows, else what
// its tenant's requests have had.
func (s *Score) expected(r *Request) int32 {
	if n := output(r); n > 0 || s.outputs == nil {
		return n
	}
	return s.outputs.p75(r.Tenant)
}
